import { Group, Paper, Title } from '@mantine/core'
import { useId, type ReactElement, type ReactNode } from 'react'
import { Boundary } from './boundary.tsx'

/** Shows a part of a page under a heading. It loads, and may fail, independently of the rest. */
export function Section(props: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}): ReactElement {
  const headingId = useId()
  return (
    <Paper component="section" aria-labelledby={headingId} withBorder p="md" radius="md">
      <Group justify="space-between" mb="sm" wrap="wrap">
        <Title order={2} size="h4" id={headingId}>
          {props.title}
        </Title>
        {props.actions}
      </Group>
      <Boundary>{props.children}</Boundary>
    </Paper>
  )
}
