import { Group, Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount, formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'

type Movement = Answer<'listCreditTransactions'>['transactions'][number]

const shownMax = 20

/** Shows the balance of credits and its changes, newest first. */
export function CustomerWallet({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks } = useApi()
  const path = { reference: customerRef }
  const { data: balance } = hooks.useSuspenseQuery('get', '/v1/sdk/customers/{reference}/balance', {
    params: { path },
  })
  const { data } = hooks.useSuspenseQuery(
    'get',
    '/v1/ui/customers/{reference}/credits/transactions',
    { params: { path, query: { limit: shownMax } } },
  )
  return (
    <Stack gap="xs">
      <Group gap="xs" align="baseline">
        <Text fw={700} size="xl">
          {formatNumberOf(balance.credits, 'credit')}
        </Text>
        <Text c="dimmed" size="sm">
          worth {balance.display.formatted}
        </Text>
      </Group>
      {data.transactions.length === 0 ? (
        <Empty title="No credits were granted or bought yet" />
      ) : (
        <RowsTable
          label="Changes of the balance"
          columns={columns}
          rows={data.transactions}
          keyOf={({ reference }) => reference}
        />
      )}
      {data.total > shownMax && (
        <Text size="sm" c="dimmed">
          The newest {shownMax} of {formatNumberOf(data.total, 'change')}.
        </Text>
      )}
    </Stack>
  )
}

const kinds: Readonly<Record<Movement['kind'], string>> = {
  grant: 'Granted',
  top_up: 'Bought',
  usage: 'Used',
  write_off: 'Written off',
  adjustment: 'Adjusted',
  expiry: 'Expired',
  take_back: 'Taken back after a refund or a dispute',
  give_back: 'Given back',
}

const columns: readonly Column<Movement>[] = [
  { label: 'Time', cell: ({ createdAt }) => <Time instant={createdAt} /> },
  { label: 'Event', cell: ({ kind }) => kinds[kind] },
  { label: 'Reason', cell: ({ reason }) => reason ?? '' },
  { label: 'Credits', cell: ({ credits }) => formatCount(credits), isNumber: true },
]
