import { Group, NativeSelect, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import { installationUrl } from '../api/addresses.ts'
import { formatAmount, formatCount } from '../formats/amounts.ts'
import { curlOf, queryText } from '../formats/curl.ts'
import { formatDay } from '../formats/times.ts'
import { ChartOrTable } from '../parts/chart-or-table.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { RowsTable } from '../parts/rows-table.tsx'
import { dayNumbers, type DayNumber } from './home-search.ts'
import type { Numbers, Overview } from './overview.ts'

const route = getRouteApi('/$environment/')

/** Shows one number for each of the last 30 days. */
export function ByDay(props: {
  readonly overview: Overview
  readonly number: DayNumber
}): ReactElement {
  const { overview, number } = props
  const { days, total, timeZone } = overview
  const navigate = route.useNavigate()
  const currencies = total.revenue.map(({ currency }) => currency)
  const [chosen, choose] = useState<string>()
  const currency = chosen ?? currencies[0]
  const name = dayNumbers[number]
  // The label of an amount needs its currency. Without one there is no money to show.
  const isMoney = number === 'revenue' && currency !== undefined
  const format = (value: number): string =>
    isMoney ? formatAmount(value, currency) : formatCount(value)
  const rows = days.map((day) => ({
    label: formatDay(day.start, timeZone),
    value: valueOf(day, number, currency),
  }))
  const url = `${installationUrl}/v1/ui/overview?${queryText({ timeZone })}`
  return (
    <Stack gap="xs" id="by-day">
      <Group>
        <NativeSelect
          label="Number"
          value={number}
          onChange={(event) => {
            const next = event.currentTarget.value as DayNumber
            void navigate({ search: { number: next }, replace: true })
          }}
          data={Object.entries(dayNumbers).map(([value, label]) => ({ value, label }))}
        />
        {isMoney && currencies.length > 1 && (
          <NativeSelect
            label="Currency"
            value={currency}
            onChange={(event) => {
              choose(event.currentTarget.value)
            }}
            data={currencies}
          />
        )}
      </Group>
      <ChartOrTable
        chart={{
          ...{ name, kind: 'bars', series: [{ label: name }], format },
          points: rows.map(({ label, value }) => ({ label, values: [value] })),
        }}
        table={
          <RowsTable
            label={name}
            columns={[
              { label: 'Day', cell: ({ label }) => label },
              {
                label: name,
                cell: ({ value }) => (value === undefined ? 'Unknown' : format(value)),
                isNumber: true,
              },
            ]}
            rows={rows}
            keyOf={({ label }) => label}
          />
        }
        copies={<CopyText label="Copy as curl" text={curlOf(url)} />}
      />
    </Stack>
  )
}

/** Returns the number of the day. Credits are decimal text, which a chart shows with the digits of a number. */
function valueOf(
  numbers: Numbers,
  number: DayNumber,
  currency: string | undefined,
): number | undefined {
  if (number === 'revenue') {
    return numbers.revenue.find((each) => each.currency === currency)?.net ?? 0
  }
  const value = numbers[number]
  return value === undefined ? undefined : Number(value)
}
