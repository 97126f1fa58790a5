import { formatMoney } from '@tollgate/domain/money/currencies'

/** How a locale writes things. */
export type Formats = {
  /** BCP 47. */
  readonly locale: string
  /** An exact amount of minor units. */
  readonly money: (amountMinor: bigint, currency: string) => string
  /** A whole or fractional count of something. */
  readonly count: (value: number | bigint) => string
  /** The same with its sign. */
  readonly change: (value: number | bigint) => string
  /** An amount without its currency, as it is typed: with two decimals. */
  readonly decimal: (major: number) => string
  /** A share of 1. */
  readonly percent: (share: number) => string
  /** A day: periods begin and end by UTC, so that is what is shown. */
  readonly date: (instant: Date) => string
  /** The same without the year, for axes. */
  readonly shortDate: (instant: Date) => string
  readonly dateTime: (instant: Date) => string
}

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
  }
}
