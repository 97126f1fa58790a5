import { Group, Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { installationUrl } from '../api/addresses.ts'
import { formatCount, formatNumberOf } from '../formats/amounts.ts'
import { curlOf, queryText } from '../formats/curl.ts'
import { formatDay, formatTime } from '../formats/times.ts'
import { ChartOrTable, type View } from '../parts/chart-or-table.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { Download } from '../parts/download.tsx'
import { Empty } from '../parts/empty.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Section } from '../parts/section.tsx'
import { useApi } from '../session/environment-api.tsx'
import {
  changeText,
  meterChart,
  timeRows,
  type Explored,
  type ExploredMeter,
  type TimeRow,
} from './explorer-rows.ts'
import type { ExplorerQuery } from './explorer-search.ts'
import { GroupTable, TopCustomers } from './group-table.tsx'

type Props = {
  readonly query: ExplorerQuery
  readonly view: View
  readonly onView: (view: View) => void
}

/** Shows the answer to the query: a part for each meter. */
export function ExplorerResults({ query, view, onView }: Props): ReactElement {
  const { hooks, fetch } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/usage/explore', { params: { query } })
  const url = `${installationUrl}/v1/ui/usage/explore?${queryText(query)}`
  return (
    <>
      <Group gap="xs">
        <CopyText label="Copy as SQL" text={data.sql} />
        <CopyText label="Copy as curl" text={curlOf(url)} />
        <Download
          label="Download CSV"
          fileName={`usage-${query.from}-${query.to}.csv`}
          request={async () => {
            const file = await fetch.GET('/v1/ui/usage/explore', {
              params: { query: { ...query, format: 'csv' } },
              parseAs: 'blob',
            })
            return file.data as unknown as Blob
          }}
        />
      </Group>
      {data.meters.map((meter) => (
        <Section key={meter.meterName} title={meter.meterName}>
          <MeterResult {...{ data, meter, view, onView }} />
        </Section>
      ))}
      {query.groupBy !== 'customer' && <TopCustomers query={query} />}
    </>
  )
}

function MeterResult(props: {
  readonly data: Explored
  readonly meter: ExploredMeter
  readonly view: View
  readonly onView: (view: View) => void
}): ReactElement {
  const { data, meter, view, onView } = props
  const { previous } = meter
  const label = (start: string): string =>
    data.granularity === 'hour' ? formatTime(start, data.timeZone) : formatDay(start, data.timeZone)
  if (meter.count === 0 && (previous?.count ?? 0) === 0) {
    return (
      <Empty title="No usage in this time">
        Choose another time, or remove a filter. New usage appears within seconds.
      </Empty>
    )
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        <strong>{formatNumberOf(meter.value, 'unit')}</strong> in{' '}
        {formatNumberOf(meter.count, 'record')}
        {previous !== undefined &&
          `, ${changeText(meter.value, previous.value)} against ${formatCount(previous.value)} in the time before`}
      </Text>
      <ChartOrTable
        chart={{ name: meter.meterName, kind: 'bars', ...meterChart(meter, label) }}
        table={<TimeTable meter={meter} label={label} />}
        view={{ value: view, onChange: onView }}
        copies={null}
      />
      {meter.groups !== undefined && <GroupTable meter={meter} groupBy={data.groupBy} />}
    </Stack>
  )
}

/** A browser is slow with longer tables. */
const rowsMax = 1_000

function TimeTable(props: {
  readonly meter: ExploredMeter
  readonly label: (start: string) => string
}): ReactElement {
  const { meter, label } = props
  const rows = timeRows(meter)
  const columns: Column<TimeRow>[] = [{ label: 'From', cell: ({ start }) => label(start) }]
  if (meter.groups !== undefined) {
    columns.push({ label: 'Group', cell: ({ group }) => group })
  }
  columns.push(
    { label: 'Units', cell: ({ value }) => formatCount(value), isNumber: true },
    { label: 'Records', cell: ({ count }) => formatCount(count), isNumber: true },
  )
  if (meter.previous !== undefined) {
    columns.push({
      label: 'The time before',
      cell: ({ previous = 0 }) => formatCount(previous),
      isNumber: true,
    })
  }
  return (
    <>
      <RowsTable
        label={`${meter.meterName} over time`}
        columns={columns}
        rows={rows.slice(0, rowsMax)}
        keyOf={({ start, group = '' }) => `${start} ${group}`}
      />
      {rows.length > rowsMax && (
        <Text size="sm" c="dimmed">
          The first {formatCount(rowsMax)} of {formatNumberOf(rows.length, 'row')}. The CSV file has
          all.
        </Text>
      )}
    </>
  )
}
