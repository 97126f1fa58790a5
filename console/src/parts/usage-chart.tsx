import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import type { ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'

export type ChartBar = { readonly label: string; readonly value: number }

/** Bars over time. The same values are in a table beside it, so screen readers skip the picture. */
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
