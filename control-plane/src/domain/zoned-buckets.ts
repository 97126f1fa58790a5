import type { Granularity } from '@tollgate/schemas/http/meters'
import { dayMs, hourMs, splitRange, type TimeRange } from './usage-buckets.ts'

type LocalDate = { readonly year: number; readonly month: number; readonly day: number }

/** Converts between instants, in Unix milliseconds, and dates of a time zone. */
export class TimeZone {
  /** Name of the zone in the time zone database. */
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  /** Offsets from UTC by instant. The bounds of neighboring days need the same ones, and formatting is slow. */
  readonly #offsetsMs = new Map<number, number>()

  /** `name` may have letters of any case. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    // ClickHouse knows time zones only by their exact names.
    this.name = this.#format.resolvedOptions().timeZone
  }

  dateAt(atMs: number): LocalDate {
    const local = new Date(this.#localMs(atMs))
    return {
      year: local.getUTCFullYear(),
      month: local.getUTCMonth() + 1,
      day: local.getUTCDate(),
    }
  }

  /**
   * Returns the first instant of the date. Where clocks change at midnight, a date may lack its midnight or have it twice. A day or
   * month beyond the calendar is counted on: day 32 of January is 1 February.
   */
  startOf({ year, month, day }: LocalDate): number {
    const midnight = Date.UTC(year, month - 1, day)
    const starts = [midnight - dayMs, midnight + dayMs].map(
      (near) => midnight - this.#offsetMs(near),
    )
    if (starts[0] === starts[1]) return starts[0]!
    return Math.min(...starts.filter((start) => this.#localMs(start) >= midnight))
  }

  #offsetMs(atMs: number): number {
    const known = this.#offsetsMs.get(atMs)
    if (known !== undefined) return known
    const offsetMs = this.#localMs(atMs) - atMs
    this.#offsetsMs.set(atMs, offsetMs)
    return offsetMs
  }

  /** Returns the date and time of the time zone at the instant, in milliseconds as if they were UTC. */
  #localMs(atMs: number): number {
    const whole = Math.floor(atMs / 1_000) * 1_000
    const parts: Partial<Record<string, number>> = {}
    for (const { type, value } of this.#format.formatToParts(whole)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

/**
 * Returns the hours (of UTC), days, weeks (from Monday) or months of the time zone that the range touches, in order. The first and
 * the last bucket are cut at the ends of the range. Returns undefined if there are more than `max` buckets.
 */
export function zonedBuckets(
  range: TimeRange,
  granularity: Granularity,
  zone: TimeZone,
  max: number,
): TimeRange[] | undefined {
  // Dates are computed one by one, so a range with far too many of them is refused before.
  if (range.endMs - range.startMs > longestMs[granularity] * max) return undefined
  return splitRange(range, (atMs) => bucketEnd(atMs, granularity, zone), max)
}

/** No bucket is longer. A zone that moved across the date line repeated or left out a day, and a change of clocks takes an hour or two. */
const longestMs: Readonly<Record<Granularity, number>> = {
  hour: hourMs,
  day: 2 * dayMs,
  week: 8 * dayMs,
  month: 32 * dayMs,
}

function bucketEnd(atMs: number, granularity: Granularity, zone: TimeZone): number {
  if (granularity === 'hour') return (Math.floor(atMs / hourMs) + 1) * hourMs
  const date = zone.dateAt(atMs)
  switch (granularity) {
    case 'day':
      return zone.startOf({ ...date, day: date.day + 1 })
    case 'week': {
      const weekday = (new Date(Date.UTC(date.year, date.month - 1, date.day)).getUTCDay() + 6) % 7
      return zone.startOf({ ...date, day: date.day - weekday + 7 })
    }
    case 'month':
      return zone.startOf({ year: date.year, month: date.month + 1, day: 1 })
  }
}

/** Returns the date as `2026-03-01`. */
export function dateText({ year, month, day }: LocalDate): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

/** Returns the given number of days of the time zone, of which the last one contains the instant. */
export function daysUntil(
  atMs: number,
  count: number,
  zone: TimeZone,
): (TimeRange & { readonly date: string })[] {
  const today = zone.dateAt(atMs)
  return Array.from({ length: count }, (_, index) => {
    const day = today.day - count + 1 + index
    const startMs = zone.startOf({ ...today, day })
    const endMs = zone.startOf({ ...today, day: day + 1 })
    return { date: dateText(zone.dateAt(startMs)), startMs, endMs }
  })
}
