import { minorPerMajor } from './currencies.ts'
import { divideRounded, fractionOf } from './decimal.ts'
import { toFraction, type ExchangeRate } from './exchange-rates.ts'

const rateDecimals = 10

/** US dollars of one unit of the currency, with ten decimals: what purchases and payments say they were counted with. */
export function dollarsPerUnit(rate: ExchangeRate): string {
  const { numerator, denominator } = toFraction(rate)
  const digits = divideRounded(denominator * 10n ** BigInt(rateDecimals), numerator)
    .toString()
    .padStart(rateDecimals + 1, '0')
  return `${digits.slice(0, -rateDecimals)}.${digits.slice(-rateDecimals)}`
}

/** US cents of an amount at a rate that `dollarsPerUnit` wrote, rounded half away from zero. */
export function dollarCents(amountMinor: bigint, currency: string, dollarsPerUnit: string): bigint {
  const { numerator, denominator } = fractionOf(dollarsPerUnit)
  return divideRounded(amountMinor * 100n * numerator, minorPerMajor(currency) * denominator)
}
