import type { ReactElement } from 'react'
import { formatAmount } from '../formats/amounts.ts'
import { CustomerLink } from '../parts/customer-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { CancelPurchase } from './cancel-purchase.tsx'
import { purchaseUsage, type Purchase } from './purchase-usage.ts'

/** Shows purchases with their plans and states. */
export function PurchaseTable(props: {
  readonly purchases: readonly Purchase[]
  /** Leaves out the column of the customer. */
  readonly isOfOneCustomer?: boolean
}): ReactElement {
  const { purchases, isOfOneCustomer = false } = props
  return (
    <RowsTable
      label="Purchases"
      columns={isOfOneCustomer ? columns : [customer, ...columns]}
      rows={purchases}
      keyOf={({ reference }) => reference}
    />
  )
}

const ended = new Set<string>(['cancelled', 'expired', 'refunded'])

const customer: Column<Purchase> = {
  label: 'Customer',
  cell: ({ customerRef, customerEmail }) => (
    <CustomerLink customerRef={customerRef}>
      {customerEmail === '' ? customerRef : customerEmail}
    </CustomerLink>
  ),
}

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
