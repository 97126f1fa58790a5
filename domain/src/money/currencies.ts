import { fractionDigitsOf } from '@tollgate/schemas/minor-units'

/* Rules of the wire contract and the payment processor about currencies. Codes are in upper case. */

export function minorPerMajor(currency: string): 1n | 100n {
  return fractionDigitsOf(currency) === 0 ? 1n : 100n
}

/** Minimum amounts of the payment processor, in minor units. */
export const processorMinimumMinor: Readonly<Record<string, number>> = {
  USD: 50,
  EUR: 50,
  GBP: 30,
  SEK: 300,
  NOK: 300,
  DKK: 250,
  CHF: 50,
  CAD: 50,
  AUD: 50,
  JPY: 50,
  KRW: 500,
  AED: 200,
  BRL: 50,
  CZK: 1500,
  HKD: 400,
  HUF: 17500,
  INR: 50,
  MXN: 1000,
  MYR: 200,
  NZD: 50,
  PLN: 200,
  RON: 200,
  SGD: 50,
  THB: 1000,
}

const otherMinimumMinor = 50

export function processorMinimumOf(currency: string): bigint {
  return BigInt(processorMinimumMinor[currency] ?? otherMinimumMinor)
}

/** Formats an amount of minor units for people: `$0.53`, `SEK 99.99`, `¥500` in English. */
export function formatMoney(amountMinor: bigint, currency: string, locale = 'en-US'): string {
  const digits = minorPerMajor(currency) === 1n ? 0 : 2
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  // Text is formatted exactly, unlike a number. The non-breaking space after a currency code is replaced by a plain space.
  return format.format(majorText(amountMinor, currency) as `${number}`).replaceAll('\u00a0', ' ')
}

/** Returns an amount of minor units in major units, exactly: `99.99`. */
export function majorText(amountMinor: bigint, currency: string): string {
  const unit = minorPerMajor(currency)
  if (unit === 1n) return amountMinor.toString()
  const sign = amountMinor < 0n ? '-' : ''
  const whole = amountMinor < 0n ? -amountMinor : amountMinor
  return `${sign}${whole / unit}.${(whole % unit).toString().padStart(2, '0')}`
}
