import type { TaxServiceAnswer } from '@tollgate/schemas/tax-service'
import { decimalOfMicros, microsOfDecimal } from '../money/decimal.ts'
import type { TaxRule } from '../tax/tax-rule.ts'

/** Returns the rule that the answer of a tax service states about a buyer in that country. */
export function ruleOfAnswer(
  { rates, treatment, country, region }: TaxServiceAnswer,
  buyerCountry: string | null,
): TaxRule {
  const parts = rates.map(({ rate, label, jurisdiction }) => ({
    label,
    jurisdiction: jurisdiction ?? null,
    ratePerMille: perMilleOf(microsOfDecimal(rate)),
  }))
  const sum = sumOf(rates)
  return {
    treatment: treatment ?? (sum > 0n ? 'standard' : 'none'),
    ratePerMille: perMilleOf(sum),
    country: country ?? buyerCountry,
    ...(region !== undefined && { region }),
    parts,
  }
}

/** Returns the sum of the rates, in millionths. */
function sumOf(rates: TaxServiceAnswer['rates']): bigint {
  return rates.reduce((micros, { rate }) => micros + microsOfDecimal(rate), 0n)
}

/** Returns millionths as decimal text of thousandths. */
function perMilleOf(micros: bigint): string {
  return decimalOfMicros(micros * 1_000n)
}

/** Returns why an answer of the right form cannot be used, or undefined. */
export function faultOf({ rates, treatment }: TaxServiceAnswer): string | undefined {
  const sum = sumOf(rates)
  if (sum > 1_000_000n) return 'the rates add up to more than 1'
  const isTaxed = treatment === undefined || treatment === 'standard'
  return isTaxed || sum === 0n ? undefined : `a sale that is ${treatment} has a rate above 0`
}
