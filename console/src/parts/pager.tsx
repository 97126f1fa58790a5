import { Button, Group, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'

/** Number of rows of a page of a list. */
export const pageRows = 25

/** Switches between the pages of a list. Pages are counted from 1. */
export function Pager(props: {
  readonly page: number
  readonly total: number
  readonly onPage: (page: number) => void
}): ReactElement | null {
  const { page, total, onPage } = props
  if (total <= pageRows) return null
  const first = (page - 1) * pageRows + 1
  const last = Math.min(page * pageRows, total)
  return (
    <Group justify="space-between" mt="sm">
      <Text size="sm" c="dimmed">
        {formatCount(first)} to {formatCount(last)} of {formatCount(total)}
      </Text>
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          disabled={page <= 1}
          onClick={() => {
            onPage(page - 1)
          }}
        >
          Previous
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={last >= total}
          onClick={() => {
            onPage(page + 1)
          }}
        >
          Next
        </Button>
      </Group>
    </Group>
  )
}
