import { Code, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatNumberOf } from '../formats/amounts.ts'
import { CustomerLink } from '../parts/customer-link.tsx'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Paged, pageQuery } from '../parts/paged.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'

type Customer = Answer<'listCustomers'>['customers'][number]

const route = getRouteApi('/$environment/customers')
const searchDelayMs = 250

/** Shows all customers, newest first, with a search. */
export function CustomersPage(): ReactElement {
  const { hooks } = useApi()
  const { page = 1, search } = route.useSearch()
  const navigate = route.useNavigate()
  const query = { ...pageQuery(page), ...(search === undefined ? {} : { search }) }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/customers', { params: { query } })
  const find = useDebouncedCallback((text: string) => {
    void navigate({ search: text === '' ? {} : { search: text }, replace: true })
  }, searchDelayMs)
  return (
    <Stack>
      <PageHead title="Customers" text={formatNumberOf(data.total, 'customer')} />
      <TextInput
        label="Find a customer"
        placeholder="Beginning of an email, a name or a reference"
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
        empty={<NoCustomers isSearch={search !== undefined} />}
      >
        <RowsTable
          label="Customers"
          columns={columns}
          rows={data.customers}
          keyOf={({ reference }) => reference}
        />
      </Paged>
    </Stack>
  )
}

const columns: readonly Column<Customer>[] = [
  {
    label: 'Name',
    cell: ({ reference, name, email }) => (
      <CustomerLink customerRef={reference}>{name === '' ? email : name}</CustomerLink>
    ),
  },
  { label: 'Email', cell: ({ email }) => email },
  { label: 'Your reference', cell: ({ externalRef }) => externalRef ?? '' },
  { label: 'Reference', cell: ({ reference }) => <Code>{reference}</Code> },
  { label: 'Since', cell: ({ created }) => <Time instant={created} isDay /> },
]

function NoCustomers({ isSearch }: { readonly isSearch: boolean }): ReactElement {
  return isSearch ? (
    <Empty title="No customer matches">
      The search compares the beginning of the email, the name and the references.
    </Empty>
  ) : (
    <Empty title="No customers yet">
      Your first API request with a new reference creates a customer. So does a purchase at a
      checkout.
    </Empty>
  )
}
