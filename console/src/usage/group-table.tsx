import type { ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'
import { CustomerLink } from '../parts/customer-link.tsx'
import { Empty } from '../parts/empty.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Section } from '../parts/section.tsx'
import { useApi } from '../session/environment-api.tsx'
import { changeText, groupRows, type ExploredMeter, type GroupRow } from './explorer-rows.ts'
import type { ExplorerQuery } from './explorer-search.ts'

type GroupBy = ExplorerQuery['groupBy']

const topCustomers = 10

/** Shows the customers with the most usage of the same query. */
export function TopCustomers({ query }: { readonly query: ExplorerQuery }): ReactElement {
  return (
    <Section title="Top customers">
      <CustomerGroups query={query} />
    </Section>
  )
}

function CustomerGroups({ query }: { readonly query: ExplorerQuery }): ReactElement {
  const { hooks } = useApi()
  const { granularity: _, dimension: __, ...rest } = query
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/usage/explore', {
    params: { query: { ...rest, groupBy: 'customer', top: topCustomers } },
  })
  const used = data.meters.filter(({ count }) => count > 0)
  if (used.length === 0) return <Empty title="No customer has used this" />
  return (
    <>
      {used.map((meter) => (
        <GroupTable key={meter.meterName} meter={meter} groupBy="customer" />
      ))}
    </>
  )
}

/** Shows the groups of a meter with their parts of its usage. */
export function GroupTable(props: {
  readonly meter: ExploredMeter
  readonly groupBy: GroupBy
}): ReactElement {
  const { meter, groupBy } = props
  const columns: Column<GroupRow>[] = [
    {
      label: groupNames[groupBy ?? 'dimension'],
      cell: (row) => <GroupName {...{ row, groupBy }} />,
    },
    {
      label: `Units of ${meter.meterName}`,
      cell: ({ value }) => formatCount(value),
      isNumber: true,
    },
    { label: 'Share', cell: ({ value }) => shareText(value, meter.value), isNumber: true },
    { label: 'Records', cell: ({ count }) => formatCount(count), isNumber: true },
  ]
  if (meter.previous !== undefined) {
    columns.push({
      label: 'Change',
      cell: ({ value, previous = 0 }) => changeText(value, previous),
      isNumber: true,
    })
  }
  return (
    <RowsTable
      label={`Groups of ${meter.meterName}`}
      columns={columns}
      rows={groupRows(meter)}
      keyOf={({ key, isRest }) => `${isRest ? 'rest' : 'group'} ${key}`}
    />
  )
}

const groupNames = {
  customer: 'Customer',
  product: 'Product',
  purchase: 'Purchase',
  outcome: 'Outcome',
  dimension: 'Value',
} as const

function GroupName({ row, groupBy }: { readonly row: GroupRow; readonly groupBy: GroupBy }) {
  const { key, name, isRest } = row
  if (groupBy !== 'customer' || isRest || key === '') return name
  return <CustomerLink customerRef={key}>{name}</CustomerLink>
}

function shareText(value: number, whole: number): string {
  return whole === 0 ? '' : `${Math.round((value / whole) * 1_000) / 10}%`
}
