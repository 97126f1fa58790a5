import { Select, Stack, Text } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import { installationUrl } from '../api/addresses.ts'
import { formatCount, formatNumberOf } from '../formats/amounts.ts'
import { curlOf, queryText } from '../formats/curl.ts'
import { addDays, lastDays } from '../formats/days.ts'
import { formatDay, shownTimeZone } from '../formats/times.ts'
import { ChartOrTable } from '../parts/chart-or-table.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { Empty } from '../parts/empty.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable } from '../parts/rows-table.tsx'
import { useApi } from '../session/environment-api.tsx'

const shownDays = 30

/** Shows usage by day, for one of the meters that the customer used. */
export function CustomerUsage({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks } = useApi()
  const [range] = useState(() => lastDays(shownDays, shownTimeZone, Date.now()))
  // The days of this request are those of UTC, which can begin and end earlier than the shown ones.
  const byMeter = { from: range.from, to: addDays(range.to, 1), customerRef, by: 'meter' } as const
  const { data: used } = hooks.useSuspenseQuery('get', '/v1/ui/usage/breakdown', {
    params: { query: byMeter },
  })
  const { data: all } = hooks.useSuspenseQuery('get', '/v1/ui/meters', {})
  const [chosen, choose] = useState<string | null>(null)
  const meters = used.groups.flatMap((group) =>
    all.meters.filter(({ name }) => name === group.reference),
  )
  const meter = meters.find(({ reference }) => reference === chosen) ?? meters[0]
  if (meter === undefined) {
    return (
      <Empty title="No usage in this time">
        Usage appears here within seconds after it is recorded.
      </Empty>
    )
  }
  return (
    <Stack gap="xs">
      <Select
        label="Meter"
        size="xs"
        maw={240}
        allowDeselect={false}
        value={meter.reference}
        onChange={choose}
        data={meters.map(({ reference, name }) => ({ value: reference, label: name }))}
      />
      <MeterUsage customerRef={customerRef} meter={meter} range={range} />
    </Stack>
  )
}

function MeterUsage(props: {
  readonly customerRef: string
  readonly meter: { readonly reference: string; readonly name: string }
  readonly range: { readonly from: string; readonly to: string }
}): ReactElement {
  const { customerRef, meter, range } = props
  const { hooks, environment } = useApi()
  const timeZone = shownTimeZone
  const query = { ...range, timeZone, meterRef: meter.reference, customerRef } as const
  const byDay = { ...query, granularity: 'day' } as const
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/usage/explore', {
    params: { query: byDay },
  })
  const { value = 0, count = 0, buckets = [] } = data.meters[0] ?? {}
  const days = buckets.map((bucket) => ({ label: formatDay(bucket.start), value: bucket.value }))
  const url = `${installationUrl}/v1/ui/usage/explore?${queryText(byDay)}`
  return (
    <>
      <Text size="sm">
        {formatNumberOf(value, 'unit')} in {formatNumberOf(count, 'record')}.{' '}
        <PageLink
          underline="always"
          to="/$environment/usage"
          params={{ environment }}
          search={{ zone: timeZone, meters: [meter.reference], customer: customerRef }}
        >
          Explore
        </PageLink>
      </Text>
      <ChartOrTable
        chart={{
          ...{ name: meter.name, kind: 'bars', series: [{ label: meter.name }] },
          points: days.map((day) => ({ label: day.label, values: [day.value] })),
        }}
        table={
          <RowsTable
            label={meter.name}
            columns={[
              { label: 'Day', cell: ({ label }) => label },
              { label: meter.name, cell: (day) => formatCount(day.value), isNumber: true },
            ]}
            rows={days}
            keyOf={({ label }) => label}
          />
        }
        copies={<CopyText label="Copy as curl" text={curlOf(url)} />}
      />
    </>
  )
}
