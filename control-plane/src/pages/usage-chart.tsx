import { scaleBand, scaleLinear } from 'd3-scale'
import type { ReactElement } from 'react'
import type { Formats } from './formats.ts'
import type { Reader } from './reader.ts'

export type ChartBar = { readonly start: Date; readonly value: number }

/*
 * All coordinates are percentages of the chart, which is as wide as the page allows. Text and lines keep their size on every
 * screen.
 */
const left = 10
const right = 100
const top = 8
const bottom = 88
const gridLinesMax = 4

type ChartProps = {
  readonly title: string
  readonly bars: readonly ChartBar[]
  /** Current time. Bars that begin later appear in the chart, which shows the whole period, but not in the table. */
  readonly now: Date
  readonly reader: Pick<Reader, 't' | 'formats'>
}

/** Usage over time as a chart, and as a table for people who cannot or do not want to view a chart. */
export function UsageChart({ title, bars, now, reader }: ChartProps): ReactElement {
  const { t, formats } = reader
  const highest = Math.max(1, ...bars.map(({ value }) => value))
  const y = scaleLinear().domain([0, highest]).nice(gridLinesMax).range([bottom, top])
  const x = scaleBand<number>()
    .domain(bars.map((_, index) => index))
    .range([left, right])
    .padding(0.2)
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <svg width="100%" height="220" role="img" aria-label={summaryOf(title, bars, reader)}>
        {y.ticks(gridLinesMax).map((tick) => (
          <g key={tick}>
            <line
              className="grid"
              x1={percent(left)}
              x2={percent(right)}
              y1={percent(y(tick))}
              y2={percent(y(tick))}
            />
            <text
              className="label"
              x={percent(left - 1.5)}
              y={percent(y(tick))}
              dy="0.35em"
              textAnchor="end"
            >
              {shortCount(tick, formats)}
            </text>
          </g>
        ))}
        {bars.map(({ start, value }, index) => (
          <rect
            key={index}
            className="bar"
            x={percent(x(index) ?? left)}
            width={percent(x.bandwidth())}
            y={percent(y(value))}
            height={percent(bottom - y(value))}
            rx="2"
          >
            <title>{t('shared:chartBar', { date: formats.date(start), value })}</title>
          </rect>
        ))}
        <DateLabels bars={bars} formats={formats} />
      </svg>
      <details>
        <summary>{t('shared:chartAsTable')}</summary>
        <UsageTable title={title} bars={bars.filter(({ start }) => start <= now)} reader={reader} />
      </details>
    </figure>
  )
}

type DateLabelsProps = Pick<ChartProps, 'bars'> & { readonly formats: Formats }

function DateLabels({ bars, formats }: DateLabelsProps): ReactElement {
  const [first, last] = [bars[0], bars.at(-1)]
  return (
    <>
      {first !== undefined && (
        <text className="label" x={percent(left)} y="98%">
          {formats.shortDate(first.start)}
        </text>
      )}
      {last !== undefined && last !== first && (
        <text className="label" x={percent(right)} y="98%" textAnchor="end">
          {formats.shortDate(last.start)}
        </text>
      )}
    </>
  )
}

function UsageTable({ title, bars, reader }: Omit<ChartProps, 'now'>): ReactElement {
  const { t, formats } = reader
  return (
    <table>
      <caption className="hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{t('shared:chartFrom')}</th>
          <th scope="col" className="number">
            {t('shared:chartUsed')}
          </th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ start, value }) => (
          <tr key={start.getTime()}>
            <td>{formats.date(start)}</td>
            <td className="number">{formats.count(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function summaryOf(title: string, bars: readonly ChartBar[], { t }: ChartProps['reader']): string {
  const total = bars.reduce((sum, { value }) => sum + value, 0)
  return t('shared:chartTotal', { title, total })
}

function shortCount(value: number, { locale }: Formats): string {
  return new Intl.NumberFormat(locale, { notation: 'compact' }).format(value)
}

function percent(cent: number): string {
  return `${Number(cent.toFixed(3))}%`
}
