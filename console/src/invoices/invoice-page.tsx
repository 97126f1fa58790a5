import { Code, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { formatAmount } from '../formats/amounts.ts'
import { CustomerLink } from '../parts/customer-link.tsx'
import { Facts } from '../parts/facts.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Section } from '../parts/section.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { InvoiceLines } from './invoice-lines.tsx'
import { InvoicePdf } from './invoice-pdf.tsx'
import { InvoicePayments } from './invoice-payments.tsx'
import type { Invoice } from './invoice.ts'

const route = getRouteApi('/$environment/invoices/$invoiceRef')

/** Shows one invoice: its amounts, its lines with their calculation, and its payments. */
export function InvoicePage(): ReactElement {
  const { hooks } = useApi()
  const { invoiceRef } = route.useParams()
  const params = { path: { invoiceRef } }
  const { data: invoice } = hooks.useSuspenseQuery('get', '/v1/ui/invoices/{invoiceRef}', {
    params,
  })
  return (
    <Stack>
      <PageHead
        title={`Invoice ${invoice.number ?? '(draft)'}`}
        text={
          <>
            <StatusBadge status={invoice.status} /> <Code>{invoice.reference}</Code>
          </>
        }
        actions={<InvoicePdf invoice={invoice} />}
      />
      <Section title="Amounts">
        <Amounts invoice={invoice} />
      </Section>
      <Section title="Lines">
        <InvoiceLines invoice={invoice} />
      </Section>
      <Section title="Payments, refunds and decisions">
        <InvoicePayments invoice={invoice} />
      </Section>
    </Stack>
  )
}

function Amounts({ invoice }: { readonly invoice: Invoice }): ReactElement {
  const { currency, buyer, customerRef, issuedAt, dueAt, paidAt } = invoice
  const amount = (minor: number) => formatAmount(minor, currency)
  const name = buyer === undefined ? customerRef : (buyer.name ?? buyer.email)
  return (
    <Facts
      facts={[
        {
          label: 'Customer',
          value: <CustomerLink customerRef={customerRef}>{name}</CustomerLink>,
        },
        { label: 'Total', value: amount(invoice.total) },
        { label: 'Paid', value: amount(invoice.paid) },
        { label: 'Due', value: amount(invoice.due) },
        ...(invoice.carried === 0
          ? []
          : [{ label: 'On the next invoice', value: amount(invoice.carried) }]),
        ...(invoice.credited === 0 ? [] : [{ label: 'Credited', value: amount(invoice.credited) }]),
        ...(invoice.refunded === 0 ? [] : [{ label: 'Refunded', value: amount(invoice.refunded) }]),
        ...(invoice.dispute === undefined ? [] : [{ label: 'Dispute', value: invoice.dispute }]),
        ...(issuedAt === undefined
          ? []
          : [{ label: 'Issued', value: <Time key="issued" instant={issuedAt} /> }]),
        ...(dueAt === undefined
          ? []
          : [{ label: 'To be paid by', value: <Time key="due" instant={dueAt} /> }]),
        ...(paidAt === undefined
          ? []
          : [{ label: 'Paid on', value: <Time key="paid" instant={paidAt} /> }]),
      ]}
    />
  )
}
