import { addDays, isDay, lastDays } from '../formats/days.ts'
import { shownTimeZone } from '../formats/times.ts'
import { textOf } from '../parts/list-search.ts'

/* The state of the usage explorer. All of it is in the address, so a link shows the same numbers to everyone. */

export const granularities = ['hour', 'day', 'week', 'month'] as const
export const groupings = ['customer', 'product', 'purchase', 'outcome', 'dimension'] as const
export const outcomes = ['success', 'paywall', 'fail', 'all'] as const
export const ranges = [1, 7, 30, 90] as const
export const tops = [5, 10, 25] as const

export type ExplorerSearch = {
  /** The time zone of days. It is in every address, because a reader may be in another one. */
  readonly zone: string
  /** References of meters. Default: the meter of limit checks. */
  readonly meters?: readonly string[]
  /** The last days, today included. */
  readonly last?: (typeof ranges)[number]
  /** The first and the last day, both included. They are used if `last` is missing. */
  readonly from?: string
  readonly to?: string
  readonly by?: (typeof granularities)[number]
  readonly group?: (typeof groupings)[number]
  readonly dimension?: string
  readonly top?: (typeof tops)[number]
  readonly customer?: string
  readonly product?: string
  readonly purchase?: string
  readonly outcome?: (typeof outcomes)[number]
  /** Values by dimension. */
  readonly filter?: Readonly<Record<string, readonly string[]>>
  readonly compare?: true
  readonly view?: 'table'
}

type Given = Readonly<Record<string, unknown>>

/** Reads the state from an address. What is not understood is left out. */
export function explorerSearch(given: Given): ExplorerSearch {
  const { filter } = given
  const meters = metersOf(given['meters'])
  return {
    zone: zoneOf(given),
    ...(meters.length === 0 ? {} : { meters }),
    ...rangeOf(given),
    ...oneOf(given, 'by', granularities),
    ...oneOf(given, 'group', groupings),
    ...oneOf(given, 'top', tops),
    ...oneOf(given, 'outcome', outcomes),
    ...text(given, 'dimension'),
    ...text(given, 'customer'),
    ...text(given, 'product'),
    ...text(given, 'purchase'),
    ...(isFilter(filter) ? { filter } : {}),
    ...(given['compare'] === true ? { compare: true } : {}),
    ...(given['view'] === 'table' ? { view: 'table' } : {}),
  }
}

function zoneOf(given: Given): string {
  const zone = textOf(given, 'zone')
  if (zone === undefined) return shownTimeZone
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return shownTimeZone
  }
}

function metersOf(given: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given]
  return all.filter((each): each is string => typeof each === 'string' && each !== '')
}

function rangeOf(given: Given): Pick<ExplorerSearch, 'last' | 'from' | 'to'> {
  const [from, to] = [textOf(given, 'from'), textOf(given, 'to')]
  const areDays = from !== undefined && to !== undefined && isDay(from) && isDay(to)
  return areDays && from <= to ? { from, to } : oneOf(given, 'last', ranges)
}

function oneOf<Name extends string, Value>(
  given: Given,
  name: Name,
  values: readonly Value[],
): { readonly [Each in Name]?: Value } {
  const value = values.find((each) => each === given[name])
  return (value === undefined ? {} : { [name]: value }) as { readonly [Each in Name]?: Value }
}

function text<Name extends string>(given: Given, name: Name): { readonly [Each in Name]?: string } {
  const value = textOf(given, name)
  return (value === undefined ? {} : { [name]: value }) as { readonly [Each in Name]?: string }
}

function isFilter(given: unknown): given is NonNullable<ExplorerSearch['filter']> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  const values: unknown[] = Object.values(given)
  const areTexts = values.every(
    (each) => Array.isArray(each) && each.every((value) => typeof value === 'string'),
  )
  return values.length > 0 && areTexts
}

const lastDefault = 30
const topDefault = 10

/** The query of the request. Its type follows from the description of the API. */
export function explorerQuery(search: ExplorerSearch, nowMs: number) {
  const { zone, last = lastDefault, from, to, meters, group, dimension, filter } = search
  const range =
    from === undefined || to === undefined
      ? lastDays(last, zone, nowMs)
      : { from, to: addDays(to, 1) }
  // The API refuses a dimension without its grouping, and a grouping without its dimension.
  const grouping =
    group === 'dimension' ? (dimension === undefined ? {} : { group, dimension }) : { group }
  return {
    ...range,
    timeZone: zone,
    ...(meters === undefined ? {} : { meterRef: [...meters] }),
    granularity: search.by ?? ('day' as const),
    ...(grouping.group === undefined
      ? {}
      : { groupBy: grouping.group, top: search.top ?? topDefault }),
    ...(grouping.dimension === undefined ? {} : { dimension: grouping.dimension }),
    ...(search.customer === undefined ? {} : { customerRef: search.customer }),
    ...(search.product === undefined ? {} : { productRef: search.product }),
    ...(search.purchase === undefined ? {} : { purchaseRef: search.purchase }),
    ...(search.outcome === undefined ? {} : { outcome: search.outcome }),
    ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }),
    ...(search.compare === undefined ? {} : { compare: 'previous' as const }),
  }
}

export type ExplorerQuery = ReturnType<typeof explorerQuery>
