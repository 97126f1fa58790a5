import { Stack, Text } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'

/** Says that there is nothing, and what to do about it. */
export function Empty(props: {
  readonly title: string
  readonly children?: ReactNode
}): ReactElement {
  return (
    <Stack gap={4} align="center" p="lg" ta="center">
      <Text fw={600}>{props.title}</Text>
      <Text component="div" c="dimmed" size="sm" maw={520}>
        {props.children}
      </Text>
    </Stack>
  )
}
