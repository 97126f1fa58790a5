import { invalid } from '../errors.ts'

/** Minimum charge in minor units. Stripe converts its minimum of 0.50 dollars into round amounts. */
const minimums: Readonly<Record<string, number>> = {
  ...{ usd: 50, eur: 50, gbp: 30, sek: 300, nok: 300, dkk: 250, chf: 50, cad: 50, aud: 50 },
  ...{ nzd: 50, sgd: 50, brl: 50, inr: 50, jpy: 50, krw: 500, hkd: 400, pln: 200, mxn: 1000 },
  ...{ aed: 200, ron: 200, myr: 200, thb: 1000, czk: 1500, huf: 17_500 },
}
const otherMinimum = 50
/** Maximum charge in minor units: 8 digits. */
const maximum = 99_999_999

/** Amounts in these currencies must be divisible by this number, because their last digits are not used. */
const divisors: Readonly<Record<string, number>> = {
  ...{ isk: 100, ugx: 100 },
  ...{ bhd: 10, jod: 10, kwd: 10, omr: 10, tnd: 10 },
}

const currencies = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()))

export function requireChargeable(amount: number, currency: string): void {
  if (!currencies.has(currency)) {
    throw invalid(`Invalid currency: ${currency}.`, { param: 'currency' })
  }
  const minimum = minimums[currency] ?? otherMinimum
  if (amount < minimum) {
    throw invalid(`Amount must be at least ${minimum} ${currency}, in its smallest unit.`, {
      code: 'amount_too_small',
      param: 'amount',
    })
  }
  if (amount > maximum) {
    throw invalid(`Amount must be no more than ${maximum} ${currency}, in its smallest unit.`, {
      code: 'amount_too_large',
      param: 'amount',
    })
  }
  const divisor = divisors[currency] ?? 1
  if (amount % divisor !== 0) {
    throw invalid(`Amounts in ${currency} must be divisible by ${divisor}.`, {
      code: 'invalid_charge_amount',
      param: 'amount',
    })
  }
}

/** Returns the fee: 2.9 percent plus 30 minor units. */
export function feeOf(amount: number): number {
  return Number((BigInt(amount) * 29n + 500n) / 1_000n) + 30
}

const withoutDecimals = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
)
const withThreeDecimals = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd'])

/**
 * Formats an amount for people, for example `$54.00`. The number of decimals is that of Stripe, which differs from the official one
 * for some currencies.
 */
export function formatAmount(amount: number, currency: string): string {
  const digits = withoutDecimals.has(currency) ? 0 : withThreeDecimals.has(currency) ? 3 : 2
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return format.format(amount / 10 ** digits).replaceAll('\u00a0', ' ')
}
