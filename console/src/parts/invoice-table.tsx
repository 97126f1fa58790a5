import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatAmount } from '../formats/amounts.ts'
import { CustomerLink } from './customer-link.tsx'
import { InvoiceLink } from './invoice-link.tsx'
import { RowsTable, type Column } from './rows-table.tsx'
import { StatusBadge } from './status-badge.tsx'
import { Time } from './time.tsx'

export type InvoiceSummary = Answer<'listInvoices'>['invoices'][number]

/** Shows invoices with their states and amounts. */
export function InvoiceTable(props: {
  readonly invoices: readonly InvoiceSummary[]
  /** Leaves out the column of the customer. */
  readonly isOfOneCustomer?: boolean
}): ReactElement {
  const { invoices, isOfOneCustomer = false } = props
  return (
    <RowsTable
      label="Invoices"
      columns={isOfOneCustomer ? [number, ...others] : [number, customer, ...others]}
      rows={invoices}
      keyOf={({ reference }) => reference}
    />
  )
}

const number: Column<InvoiceSummary> = {
  label: 'Number',
  cell: ({ reference, number: text = 'Draft' }) => (
    <InvoiceLink invoiceRef={reference}>{text}</InvoiceLink>
  ),
}

const customer: Column<InvoiceSummary> = {
  label: 'Customer',
  cell: ({ customerRef }) => <CustomerLink customerRef={customerRef}>{customerRef}</CustomerLink>,
}

const others: readonly Column<InvoiceSummary>[] = [
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Total',
    cell: ({ total, currency }) => formatAmount(total, currency),
    isNumber: true,
  },
  { label: 'Due', cell: ({ due, currency }) => formatAmount(due, currency), isNumber: true },
  {
    label: 'Issued',
    cell: ({ issuedAt, createdAt }) => <Time instant={issuedAt ?? createdAt} isDay />,
  },
]
