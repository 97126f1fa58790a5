import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import type { ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'

export type ChartBar = { readonly label: string; readonly value: number }

/** Shows bars over time. Screen readers skip the chart, because the user can switch to a table with the same values. */
export function UsageChart(props: {
  readonly name: string
  readonly bars: readonly ChartBar[]
}): ReactElement {
  return (
    <div aria-hidden="true">
      <BarChart
        h={220}
        data={[...props.bars]}
        dataKey="label"
        series={[{ name: 'value', label: props.name, color: 'indigo.6' }]}
        tickLine="y"
        valueFormatter={formatCount}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}
