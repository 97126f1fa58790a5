import { Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { formatAmount, formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { CancelPurchase } from './cancel-purchase.tsx'
import { purchaseUsage, type Purchase } from './purchase-usage.ts'

const shownMax = 50

/** Shows the purchases of the customer, newest first. */
export function CustomerPurchases({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks } = useApi()
  const query = { customerRef, limit: shownMax }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/purchases', { params: { query } })
  if (data.purchases.length === 0) {
    return (
      <Empty title="No purchases yet">
        A purchase begins when the customer pays at a checkout, or when you activate a plan by the
        API.
      </Empty>
    )
  }
  return (
    <Stack gap="xs">
      <RowsTable
        label="Purchases"
        columns={columns}
        rows={data.purchases}
        keyOf={({ reference }) => reference}
      />
      {data.total > shownMax && (
        <Text size="sm" c="dimmed">
          The newest {shownMax} of {formatNumberOf(data.total, 'purchase')}.
        </Text>
      )}
    </Stack>
  )
}

const ended = new Set<string>(['cancelled', 'expired', 'refunded'])

const columns: readonly Column<Purchase>[] = [
  {
    label: 'Plan',
    cell: ({ productName, productRef, planSnapshot }) =>
      `${productName ?? productRef}: ${planSnapshot?.name ?? 'a plan'}`,
  },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Price',
    cell: ({ planSnapshot }) =>
      planSnapshot === undefined ? '' : formatAmount(planSnapshot.price, planSnapshot.currency),
    isNumber: true,
  },
  {
    label: 'Used',
    cell: (purchase) => purchaseUsage(purchase).map((line) => <div key={line}>{line}</div>),
    isNumber: true,
  },
  { label: 'Since', cell: ({ startDate }) => <Time instant={startDate} isDay /> },
  {
    label: 'Next',
    cell: ({ nextBillingDate, endDate }) => {
      if (endDate !== undefined) {
        return (
          <>
            ends <Time instant={endDate} isDay />
          </>
        )
      }
      return nextBillingDate === undefined ? '' : <Time instant={nextBillingDate} isDay />
    },
  },
  {
    label: 'Actions',
    cell: ({ reference, status, cancelledAt }) =>
      ended.has(status) || cancelledAt !== undefined ? null : (
        <CancelPurchase purchaseRef={reference} />
      ),
  },
]
