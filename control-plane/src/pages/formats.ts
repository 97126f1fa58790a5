import { formatMoney } from '@tollgate/domain/money/currencies'

/** Functions that format values for a locale. */
export type Formats = {
  /** Locale as a BCP 47 tag. */
  readonly locale: string
  /** Formats an exact amount in minor units. */
  readonly money: (amountMinor: bigint, currency: string) => string
  /** Formats a whole or fractional count. */
  readonly count: (value: number | bigint) => string
  /** Formats a count with its sign. */
  readonly change: (value: number | bigint) => string
  /** Formats an amount without its currency, with 2 decimals, as a customer would type it. */
  readonly decimal: (major: number) => string
  /** Formats a share of 1 as a percentage. */
  readonly percent: (share: number) => string
  /** Formats a day in UTC, because periods begin and end in UTC. */
  readonly date: (instant: Date) => string
  /** Formats a day without the year, for axes of charts. */
  readonly shortDate: (instant: Date) => string
  readonly dateTime: (instant: Date) => string
  /** Formats a length of time in whole days, hours, minutes or seconds: the largest unit of which it is a multiple. */
  readonly duration: (seconds: number) => string
}

/** Units with their seconds, longest first. */
const durationUnits = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** Returns the formats of a BCP 47 locale that is known to exist. */
export function formatsFor(locale = 'en-US'): Formats {
  const inUtc = { timeZone: 'UTC' } as const
  const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 })
  const decimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, useGrouping: false })
  const changes = new Intl.NumberFormat(locale, {
    maximumFractionDigits: 6,
    signDisplay: 'exceptZero',
  })
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 })
  const dates = new Intl.DateTimeFormat(locale, { ...inUtc, dateStyle: 'medium' })
  const shortDates = new Intl.DateTimeFormat(locale, { ...inUtc, day: 'numeric', month: 'short' })
  const dateTimes = new Intl.DateTimeFormat(locale, {
    ...inUtc,
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  return {
    locale,
    money: (amountMinor, currency) => formatMoney(amountMinor, currency, locale),
    count: (value) => counts.format(value),
    decimal: (major) => decimals.format(major),
    change: (value) => changes.format(value),
    percent: (share) => percents.format(share),
    date: (instant) => dates.format(instant),
    shortDate: (instant) => shortDates.format(instant),
    dateTime: (instant) => `${dateTimes.format(instant)} UTC`,
    duration: (seconds) => {
      const [unit, length] = durationUnits.find((each) => seconds % each[1] === 0)!
      const inUnits = { style: 'unit', unit, unitDisplay: 'long' } as const
      return new Intl.NumberFormat(locale, inUnits).format(seconds / length)
    },
  }
}
