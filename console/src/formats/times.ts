/** Time zone in which times are shown. */
export const shownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const dayFormat = { dateStyle: 'medium' } as const
const timeFormat = { dateStyle: 'medium', timeStyle: 'short' } as const
const preciseFormat = { dateStyle: 'medium', timeStyle: 'medium' } as const

/** Formats an instant of the API as a day in the time zone. */
export function formatDay(instant: string, timeZone = shownTimeZone): string {
  return new Intl.DateTimeFormat('en-US', { ...dayFormat, timeZone }).format(new Date(instant))
}

/** Formats an instant of the API as a day with its time in the time zone. */
export function formatTime(instant: string, timeZone = shownTimeZone): string {
  return new Intl.DateTimeFormat('en-US', { ...timeFormat, timeZone }).format(new Date(instant))
}

/** Formats an instant with its seconds in UTC, as logs and the API do. */
export function formatUtc(instant: string): string {
  const utc = { ...preciseFormat, timeZone: 'UTC' }
  return `${new Intl.DateTimeFormat('en-US', utc).format(new Date(instant))} UTC`
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const relative = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' })

/** Formats how long ago, or how far ahead, an instant is: "5 minutes ago". */
export function formatAgo(instant: string, nowMs: number): string {
  const differenceMs = Date.parse(instant) - nowMs
  const [unit, lengthMs] = units.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? ['second', 1_000]
  return relative.format(Math.trunc(differenceMs / lengthMs), unit)
}
