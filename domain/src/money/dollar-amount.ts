import { minorPerMajor } from './currencies.ts'
import { divideRounded, fractionOf } from './decimal.ts'
import { toFraction, type ExchangeRate } from './exchange-rates.ts'

const rateDecimals = 10

/** Returns the US dollars of one unit of the currency, with 10 decimals. Purchases and payments store this text. */
export function dollarsPerUnit(rate: ExchangeRate): string {
  const { numerator, denominator } = toFraction(rate)
  const digits = divideRounded(denominator * 10n ** BigInt(rateDecimals), numerator)
    .toString()
    .padStart(rateDecimals + 1, '0')
  return `${digits.slice(0, -rateDecimals)}.${digits.slice(-rateDecimals)}`
}

/** Converts an amount to US cents at a rate returned by `dollarsPerUnit`, rounded half away from zero. */
export function dollarCents(amountMinor: bigint, currency: string, dollarsPerUnit: string): bigint {
  const { numerator, denominator } = fractionOf(dollarsPerUnit)
  return divideRounded(amountMinor * 100n * numerator, minorPerMajor(currency) * denominator)
}
