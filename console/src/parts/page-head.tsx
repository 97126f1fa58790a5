import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'

/** Shows the heading of a page with a description and actions. */
export function PageHead(props: {
  readonly title: ReactNode
  readonly text?: ReactNode
  readonly actions?: ReactNode
}): ReactElement {
  const { title, text, actions } = props
  return (
    <Group justify="space-between" align="flex-start" wrap="wrap">
      <Stack gap={2} miw={0}>
        <Title order={1} size="h2">
          {title}
        </Title>
        {text !== undefined && (
          <Text component="div" c="dimmed" size="sm">
            {text}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
