const dayMs = 86_400_000

/** Returns the calendar day of the instant in the time zone, as `2026-03-14`. */
export function dayIn(timeZone: string, nowMs: number): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit' },
  }).formatToParts(nowMs)
  const part = (wanted: string): string => parts.find(({ type }) => type === wanted)?.value ?? ''
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
}

/** Returns the calendar day that is so many days later. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
}

/** Returns whether the text is a calendar day, such as `2026-02-28`. */
export function isDay(text: string): boolean {
  const instantMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  return !Number.isNaN(instantMs) && new Date(instantMs).toISOString().startsWith(text)
}

/** Returns the last days of the time zone, today included. `to` is exclusive. */
export function lastDays(
  days: number,
  timeZone: string,
  nowMs: number,
): { readonly from: string; readonly to: string } {
  const to = addDays(dayIn(timeZone, nowMs), 1)
  return { from: addDays(to, -days), to }
}
