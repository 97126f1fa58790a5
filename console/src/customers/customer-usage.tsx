import { Select, Stack, Text } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import { formatNumberOf } from '../formats/amounts.ts'
import { formatDay } from '../formats/times.ts'
import { BarsOverTime } from '../parts/bars-over-time.tsx'
import { Empty } from '../parts/empty.tsx'
import { useApi } from '../session/environment-api.tsx'
import { lastDays } from './last-days.ts'

const shownDays = 30

/** Shows usage by day, for one of the meters that the customer used. */
export function CustomerUsage({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks } = useApi()
  const [range] = useState(() => lastDays(shownDays, Date.now()))
  const byMeter = { ...range, customerRef, by: 'meter' } as const
  const { data: used } = hooks.useSuspenseQuery('get', '/v1/ui/usage/breakdown', {
    params: { query: byMeter },
  })
  const [chosen, choose] = useState<string | null>(null)
  const meterName = chosen ?? used.groups[0]?.reference
  if (meterName === undefined) {
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
        value={meterName}
        onChange={choose}
        data={used.groups.map(({ reference }) => reference)}
      />
      <MeterUsage customerRef={customerRef} meterName={meterName} range={range} />
    </Stack>
  )
}

function MeterUsage(props: {
  readonly customerRef: string
  readonly meterName: string
  readonly range: { readonly from: string; readonly to: string }
}): ReactElement {
  const { customerRef, meterName, range } = props
  const { hooks } = useApi()
  const { data: all } = hooks.useSuspenseQuery('get', '/v1/ui/meters', {})
  const meterRef = all.meters.find(({ name }) => name === meterName)?.reference
  const query = { ...range, customerRef, granularity: 'day' } as const
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/usage', {
    params: { query: meterRef === undefined ? query : { ...query, meterRef } },
  })
  const bars = (data.buckets ?? []).map(({ start, value }) => ({
    label: formatDay(start, 'UTC'),
    value,
  }))
  return (
    <>
      <Text size="sm">
        {formatNumberOf(data.total, 'unit')} in {formatNumberOf(data.count, 'record')}, by day in
        UTC
      </Text>
      <BarsOverTime name={meterName} bars={bars} />
    </>
  )
}
