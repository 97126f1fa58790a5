import { Button, Group, Text } from '@mantine/core'
import type { ReactElement } from 'react'

/** Shows a filter of the list that the address has, and removes it. */
export function ShownFilter(props: {
  readonly text: string
  readonly onClear: () => void
}): ReactElement {
  return (
    <Group gap="xs">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {props.text}
      </Text>
      <Button size="compact-xs" variant="default" onClick={props.onClear}>
        Show all
      </Button>
    </Group>
  )
}
