import Negotiator from 'negotiator'
import { formatMoney } from '@tollgate/domain/money/currencies'

/** How the visitor's language writes things. */
export type Formats = {
  /** BCP 47. */
  readonly locale: string
  /** An exact amount of minor units. */
  readonly money: (amountMinor: bigint, currency: string) => string
  /** A whole or fractional count of something. */
  readonly count: (value: number | bigint) => string
  /** The same with its sign. */
  readonly change: (value: number | bigint) => string
  /** A day: periods begin and end by UTC, so that is what is shown. */
  readonly date: (instant: Date) => string
  /** The same without the year, for axes. */
  readonly shortDate: (instant: Date) => string
  readonly dateTime: (instant: Date) => string
}

const fallbackLocale = 'en-US'

/** Goes by the header in which browsers say what their user reads. */
export function formatsFor(acceptLanguage: string | undefined): Formats {
  const locale = localeOf(acceptLanguage)
  const inUtc = { timeZone: 'UTC' } as const
  const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 })
  const changes = new Intl.NumberFormat(locale, {
    maximumFractionDigits: 6,
    signDisplay: 'exceptZero',
  })
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
    change: (value) => changes.format(value),
    date: (instant) => dates.format(instant),
    shortDate: (instant) => shortDates.format(instant),
    dateTime: (instant) => `${dateTimes.format(instant)} UTC`,
  }
}

/** The first language that we can write in; headers come from anybody, so anything may be in them. */
function localeOf(acceptLanguage: string | undefined): string {
  if (acceptLanguage === undefined) return fallbackLocale
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages()
  return wanted.find(isKnown) ?? fallbackLocale
}

function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}
