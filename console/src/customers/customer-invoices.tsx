import { Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { InvoiceTable } from '../parts/invoice-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { useApi } from '../session/environment-api.tsx'

const shownMax = 20

/** Shows the newest invoices of the customer. */
export function CustomerInvoices({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks, environment } = useApi()
  const query = { customerRef, limit: shownMax }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/invoices', { params: { query } })
  if (data.invoices.length === 0) {
    return <Empty title="No invoices yet">An invoice follows a payment or a billed period.</Empty>
  }
  return (
    <Stack gap="xs">
      <InvoiceTable invoices={data.invoices} isOfOneCustomer />
      {data.total > shownMax && (
        <Text size="sm" c="dimmed">
          The newest {shownMax} of {formatNumberOf(data.total, 'invoice')}.{' '}
          <PageLink
            underline="always"
            to="/$environment/invoices"
            params={{ environment }}
            search={{ customer: customerRef }}
          >
            All invoices of the customer
          </PageLink>
        </Text>
      )}
    </Stack>
  )
}
