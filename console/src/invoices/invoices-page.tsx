import { NativeSelect, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { InvoiceTable } from '../parts/invoice-table.tsx'
import { invoiceFilters } from '../parts/list-search.ts'
import { PageHead } from '../parts/page-head.tsx'
import { Paged, pageQuery } from '../parts/paged.tsx'
import { ShownFilter } from '../parts/shown-filter.tsx'
import { useApi } from '../session/environment-api.tsx'

const route = getRouteApi('/$environment/invoices')

/** Shows all invoices, newest first. */
export function InvoicesPage(): ReactElement {
  const { hooks } = useApi()
  const { page = 1, status, customer } = route.useSearch()
  const navigate = route.useNavigate()
  const query = {
    ...pageQuery(page),
    ...(status === undefined ? {} : { status }),
    ...(customer === undefined ? {} : { customerRef: customer }),
  }
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
          void navigate({
            search: ({ page: _, status: __, ...rest }) =>
              chosen === undefined ? rest : { ...rest, status: chosen },
          })
        }}
        data={[{ value: '', label: 'All' }, ...invoiceFilters]}
      />
      {customer !== undefined && (
        <ShownFilter
          text={`Only invoices of the customer ${customer}`}
          onClear={() => {
            void navigate({ search: ({ page: _, customer: __, ...rest }) => rest })
          }}
        />
      )}
      <Paged
        page={page}
        total={data.total}
        onPage={(next) => {
          void navigate({ search: (given) => ({ ...given, page: next }) })
        }}
        empty={
          <Empty title={status === undefined ? 'No invoices yet' : `No invoice is ${status}`}>
            An invoice follows a payment, or the end of a period whose usage is billed.
          </Empty>
        }
      >
        <InvoiceTable invoices={data.invoices} />
      </Paged>
    </Stack>
  )
}
