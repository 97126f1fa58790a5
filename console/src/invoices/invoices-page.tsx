import { NativeSelect, Paper, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { InvoiceTable } from '../parts/invoice-table.tsx'
import { invoiceFilters } from '../parts/list-search.ts'
import { PageHead } from '../parts/page-head.tsx'
import { Pager, pageRows } from '../parts/pager.tsx'
import { useApi } from '../session/environment-api.tsx'

const route = getRouteApi('/$environment/invoices')

/** Shows all invoices, newest first. */
export function InvoicesPage(): ReactElement {
  const { hooks } = useApi()
  const { page = 1, status } = route.useSearch()
  const navigate = route.useNavigate()
  const query = { limit: pageRows, offset: (page - 1) * pageRows, ...(status ? { status } : {}) }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/invoices', { params: { query } })
  return (
    <Stack>
      <PageHead title="Invoices" text={formatNumberOf(data.total, 'invoice')} />
      <NativeSelect
        label="Status"
        maw={240}
        value={status ?? ''}
        onChange={(event) => {
          const chosen = invoiceFilters.find((each) => each === event.currentTarget.value)
          void navigate({ search: chosen === undefined ? {} : { status: chosen } })
        }}
        data={[{ value: '', label: 'All' }, ...invoiceFilters]}
      />
      <Paper withBorder p="xs" radius="md">
        {data.invoices.length === 0 ? (
          <Empty title={status === undefined ? 'No invoices yet' : `No invoice is ${status}`}>
            An invoice follows a payment, or the end of a period whose usage is billed.
          </Empty>
        ) : (
          <InvoiceTable invoices={data.invoices} />
        )}
        <Pager
          page={page}
          total={data.total}
          onPage={(next) => {
            void navigate({ search: (given) => ({ ...given, page: next }) })
          }}
        />
      </Paper>
    </Stack>
  )
}
