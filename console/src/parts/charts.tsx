import { BarChart, LineChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import type { ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'

export type ChartSeries = {
  readonly label: string
  /** Bars of one stack stand on each other. */
  readonly stack?: string
  /** Whether the series is only there for comparison. */
  readonly isPale?: boolean
}

export type ChartPoint = {
  readonly label: string
  /** In the order of the series. An unknown value has no bar and no point of the line. */
  readonly values: readonly (number | undefined)[]
}

export type ChartProps = {
  readonly name: string
  readonly kind: 'bars' | 'line'
  readonly series: readonly ChartSeries[]
  readonly points: readonly ChartPoint[]
  readonly format?: (value: number) => string
}

/** Colours that are told apart in light and dark mode, also with the common kinds of colour blindness when they are neighbours. */
const colors = [
  'indigo.6',
  'orange.5',
  'teal.6',
  'grape.5',
  'yellow.6',
  'cyan.7',
  'pink.5',
  'lime.7',
  'blue.4',
  'red.7',
  'gray.6',
] as const

/** Shows values as bars or lines. Screen readers skip the chart, because the user can switch to a table with the same values. */
export function Chart({ kind, series, points, format = formatCount }: ChartProps): ReactElement {
  // The library reads a dot in a name as a path, so the series have numbers as names.
  const shown = series.map(({ label, stack, isPale = false }, index) => ({
    ...{ name: `s${index}`, label },
    color: isPale ? 'gray.5' : colors[index % colors.length]!,
    ...(stack === undefined ? {} : { stackId: stack }),
  }))
  const data = points.map(({ label, values }) => ({
    label,
    ...Object.fromEntries(values.map((value, index) => [`s${index}`, value])),
  }))
  const common = {
    ...{ h: 240, data, dataKey: 'label', series: shown, tickLine: 'y' as const },
    ...{ valueFormatter: format, withLegend: series.length > 1 },
    yAxisProps: { width: 70 },
  }
  return (
    // While a window becomes narrower, the chart is wider than it for a moment.
    <div aria-hidden="true" style={{ overflow: 'hidden' }}>
      {kind === 'bars' ? (
        <BarChart {...common} barChartProps={{ accessibilityLayer: false }} />
      ) : (
        <LineChart
          {...common}
          curveType="linear"
          withDots={false}
          lineChartProps={{ accessibilityLayer: false }}
        />
      )}
    </div>
  )
}
