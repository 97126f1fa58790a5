import { Button, Group, Paper, Text } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import { formatCount } from '../formats/amounts.ts'
import { Empty } from './empty.tsx'

/** Number of rows of a page of a list. */
const pageRows = 25

/** Returns the query for a page of a list. Pages are counted from 1. */
export function pageQuery(page: number): { readonly limit: number; readonly offset: number } {
  return { limit: pageRows, offset: (page - 1) * pageRows }
}

type Props = {
  readonly page: number
  readonly total: number
  readonly onPage: (page: number) => void
}

/** Shows one page of a list, and switches between its pages. A page past the end of the list leads back to it. */
export function Paged(
  props: Props & {
    /** Shown if the list has no rows at all. */
    readonly empty: ReactNode
    readonly children: ReactNode
  },
): ReactElement {
  const { page, total, onPage, empty, children } = props
  const isPastEnd = total > 0 && (page - 1) * pageRows >= total
  return (
    <Paper withBorder p="xs" radius="md">
      {total === 0 && empty}
      {isPastEnd && <PastEnd onPage={onPage} />}
      {total > 0 && !isPastEnd && children}
      {total > pageRows && !isPastEnd && <Pager {...{ page, total, onPage }} />}
    </Paper>
  )
}

function PastEnd({ onPage }: Pick<Props, 'onPage'>): ReactElement {
  return (
    <Empty title="The list has no such page">
      It may have become shorter.
      <Group justify="center" mt="xs">
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            onPage(1)
          }}
        >
          First page
        </Button>
      </Group>
    </Empty>
  )
}

function Pager({ page, total, onPage }: Props): ReactElement {
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
