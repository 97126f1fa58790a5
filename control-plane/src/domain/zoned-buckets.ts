import type { Granularity } from '@tollgate/schemas/http/meters'
import type { TimeRange } from './usage-buckets.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

type LocalDate = { readonly year: number; readonly month: number; readonly day: number }

/** Date and time of a time zone at an instant, as if they were UTC, in Unix milliseconds. */
export class TimeZone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat

  constructor(name: string) {
    this.name = name
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
   * Returns the first instant of the date. A date may lack its midnight, or have it twice, where clocks change at midnight. Days and months beyond the
   * calendar count on.
   */
  startOf({ year, month, day }: LocalDate): number {
    const midnight = Date.UTC(year, month - 1, day)
    const starts = [midnight - dayMs, midnight + dayMs].map(
      (near) => midnight - this.#offsetMs(near),
    )
    return Math.min(...starts.filter((start) => this.#localMs(start) >= midnight))
  }

  #offsetMs(atMs: number): number {
    return this.#localMs(atMs) - atMs
  }

  #localMs(atMs: number): number {
    const whole = Math.floor(atMs / 1_000) * 1_000
    const parts: Partial<Record<string, number>> = {}
    for (const { type, value } of this.#format.formatToParts(whole)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

/**
 * Returns the hours (of UTC), days, weeks (from Monday) or months of the time zone that the range touches, in order. The first and the last are cut at
 * the ends of the range. Returns undefined if there are more than `max`.
 */
export function zonedBuckets(
  range: TimeRange,
  granularity: Granularity,
  zone: TimeZone,
  max: number,
): TimeRange[] | undefined {
  const buckets: TimeRange[] = []
  for (let startMs = range.startMs; startMs < range.endMs;) {
    if (buckets.length === max) return undefined
    const endMs = Math.min(bucketEnd(startMs, granularity, zone), range.endMs)
    buckets.push({ startMs, endMs })
    startMs = endMs
  }
  return buckets
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
