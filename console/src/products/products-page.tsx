import { Code, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount, formatNumberOf } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Paged, pageQuery } from '../parts/paged.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { CreateProduct } from './product-forms.tsx'

type Product = Answer<'listProducts'>['products'][number]

const route = getRouteApi('/$environment/products')
const searchDelayMs = 250

/** Shows all products, newest first, with a search. */
export function ProductsPage(): ReactElement {
  const { hooks } = useApi()
  const { page = 1, search } = route.useSearch()
  const navigate = route.useNavigate()
  const query = { ...pageQuery(page), ...(search === undefined ? {} : { search }) }
  const { data } = hooks.useSuspenseQuery('get', '/v1/sdk/products', { params: { query } })
  const find = useDebouncedCallback((text: string) => {
    void navigate({ search: text === '' ? {} : { search: text }, replace: true })
  }, searchDelayMs)
  return (
    <Stack>
      <PageHead
        title="Products"
        text={formatNumberOf(data.total, 'product')}
        actions={<CreateProduct />}
      />
      <TextInput
        label="Find a product"
        placeholder="A part of the name"
        defaultValue={search ?? ''}
        onChange={(event) => {
          find(event.currentTarget.value)
        }}
        maw={420}
      />
      <Paged
        page={page}
        total={data.total}
        onPage={(next) => {
          void navigate({ search: (given) => ({ ...given, page: next }) })
        }}
        empty={
          <Empty title={search === undefined ? 'No products yet' : 'No product matches'}>
            A product is what you sell, such as an API. Create one, and then its plans.
          </Empty>
        }
      >
        <RowsTable
          label="Products"
          columns={columns}
          rows={data.products}
          keyOf={({ reference }) => reference}
        />
      </Paged>
    </Stack>
  )
}

function ProductLink({ reference, name }: Product): ReactElement {
  const { environment } = useApi()
  return (
    <PageLink
      to="/$environment/products/$productRef"
      params={{ environment, productRef: reference }}
    >
      {name}
    </PageLink>
  )
}

const columns: readonly Column<Product>[] = [
  { label: 'Name', cell: ProductLink },
  { label: 'Reference', cell: ({ reference }) => <Code>{reference}</Code> },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Plans', cell: ({ plans = [] }) => formatCount(plans.length), isNumber: true },
  { label: 'Created', cell: ({ createdAt }) => <Time instant={createdAt} isDay /> },
]
