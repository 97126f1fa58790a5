import type { ReactElement } from 'react'
import { formatAmount } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { RowsTable } from '../parts/rows-table.tsx'
import { Time } from '../parts/time.tsx'
import type { Invoice } from './invoice.ts'

/** Shows the payments, refunds, credit notes and decisions of the invoice, oldest first. */
export function InvoicePayments({ invoice }: { readonly invoice: Invoice }): ReactElement {
  const steps = stepsOf(invoice)
  if (steps.length === 0) {
    return (
      <Empty title="Nothing was paid or decided yet">
        An open invoice is charged to the saved card of the customer when it is due.
      </Empty>
    )
  }
  return (
    <RowsTable
      label="Payments, refunds and decisions"
      columns={[
        { label: 'Time', cell: ({ at }) => <Time instant={at} /> },
        { label: 'Event', cell: ({ text }) => text },
        { label: 'Details', cell: ({ details }) => details },
        {
          label: 'Amount',
          cell: ({ amount }) => formatAmount(amount, invoice.currency),
          isNumber: true,
        },
      ]}
      rows={steps}
      keyOf={({ reference, text }) => `${reference} ${text}`}
    />
  )
}

type Step = {
  readonly reference: string
  readonly at: string
  readonly text: string
  readonly details: string
  readonly amount: number
}

function stepsOf({ payments, refunds, decisions, creditNotes }: Invoice): readonly Step[] {
  const steps: Step[] = [
    ...payments.map(({ reference, amount, paidAt, card, dispute }) => ({
      ...{ reference, amount, at: paidAt },
      text: dispute === undefined ? 'Paid' : `Paid, dispute ${dispute.status}`,
      details: card === undefined ? '' : `${card.brand} ending in ${card.last4}`,
    })),
    ...refunds.map(({ reference, amount, to, status, createdAt }) => ({
      ...{ reference, amount, at: createdAt },
      text: to === 'card' ? 'Refund to the card' : 'Refund to the balance',
      details: status,
    })),
    ...creditNotes.map(({ reference, number, total, reason = '', createdAt, voidedAt }) => ({
      ...{ reference, amount: total, at: createdAt, details: reason },
      text: `Credit note ${number}${voidedAt === undefined ? '' : ' (void)'}`,
    })),
    ...decisions.map(({ reference, kind, amount, reason, createdAt }) => ({
      ...{ reference, amount, at: createdAt, details: reason },
      text: `Decision: ${kind.replaceAll('_', ' ')}`,
    })),
  ]
  return steps.sort((one, other) => one.at.localeCompare(other.at))
}
