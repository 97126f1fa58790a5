import type { Answer } from '../api/answers.ts'
import type { ChartPoint, ChartSeries } from '../parts/charts.tsx'

export type Explored = Answer<'exploreUsage'>
export type ExploredMeter = Explored['meters'][number]
type Usage = Pick<ExploredMeter, 'value' | 'count' | 'buckets' | 'previous'>

export type GroupRow = {
  readonly key: string
  readonly name: string
  /** Whether the row is the rest of all groups. */
  readonly isRest: boolean
  readonly value: number
  readonly count: number
  /** Undefined without a comparison. */
  readonly previous: number | undefined
}

/** Returns the groups of the meter and their rest, largest first. A meter without groups has none. */
export function groupRows({ groups = [], other }: ExploredMeter): readonly GroupRow[] {
  const row = (usage: Usage, names: Pick<GroupRow, 'key' | 'name' | 'isRest'>): GroupRow => ({
    ...names,
    ...{ value: usage.value, count: usage.count, previous: usage.previous?.value },
  })
  return [
    ...groups.map((group) => row(group, { key: group.key, name: nameOf(group), isRest: false })),
    ...(other === undefined ? [] : [row(other, { key: '', name: 'All others', isRest: true })]),
  ]
}

function nameOf({ key, name }: { readonly key: string; readonly name?: string }): string {
  return name ?? (key === '' ? 'None' : key)
}

export type TimeRow = {
  readonly start: string
  /** Name of the group. Undefined without groups. */
  readonly group: string | undefined
  readonly value: number
  readonly count: number
  /** Usage at the same place of the time before. */
  readonly previous: number | undefined
}

/** Returns a row for each bucket and group, in the order of time. */
export function timeRows(meter: ExploredMeter): readonly TimeRow[] {
  const usages = usagesOf(meter)
  return (meter.buckets ?? []).flatMap(({ start }, index) =>
    usages.map(({ name, usage }) => ({
      start,
      group: name,
      value: usage.buckets?.[index]?.value ?? 0,
      count: usage.buckets?.[index]?.count ?? 0,
      previous: usage.previous === undefined ? undefined : previousAt(usage, index),
    })),
  )
}

/** Returns the chart of the meter: its groups on each other, and the time before beside them. */
export function meterChart(
  meter: ExploredMeter,
  label: (start: string) => string,
): { readonly series: readonly ChartSeries[]; readonly points: readonly ChartPoint[] } {
  const usages = usagesOf(meter)
  const isCompared = meter.previous !== undefined
  const series: ChartSeries[] = usages.map(({ name }) => ({
    label: name ?? meter.meterName,
    stack: 'now',
  }))
  if (isCompared) series.push({ label: 'The time before', stack: 'before', isPale: true })
  const points = (meter.buckets ?? []).map(({ start }, index) => ({
    label: label(start),
    values: [
      ...usages.map(({ usage }) => usage.buckets?.[index]?.value ?? 0),
      ...(isCompared ? [previousAt(meter, index)] : []),
    ],
  }))
  return { series, points }
}

/** Months and years differ in length, so the time before can have fewer buckets. */
function previousAt({ previous }: Usage, index: number): number {
  return previous?.buckets?.[index]?.value ?? 0
}

function usagesOf(
  meter: ExploredMeter,
): readonly { readonly name: string | undefined; readonly usage: Usage }[] {
  const { groups, other } = meter
  if (groups === undefined) return [{ name: undefined, usage: meter }]
  return [
    ...groups.map((group) => ({ name: nameOf(group), usage: group })),
    ...(other === undefined ? [] : [{ name: 'All others', usage: other }]),
  ]
}

/** Returns the change against the time before as text, such as `+12.5%`. */
export function changeText(value: number, previous: number): string {
  if (previous === 0) return value === 0 ? 'no change' : 'new'
  const percent = ((value - previous) / previous) * 100
  const rounded = Math.round(percent * 10) / 10
  return `${rounded > 0 ? '+' : ''}${rounded.toLocaleString('en-US')}%`
}
