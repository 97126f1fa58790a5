import type { JsonObject } from '@tollgate/schemas/json-object'
import { divideRounded } from '../money/decimal.ts'
import { taxOnPrice } from '../pricing/price-line.ts'
import type { TaxBehavior } from '../catalog/products-repository.ts'
import type { TaxPart, TaxRule, TaxTreatment } from '../tax/tax-rule.ts'

/** Subtotal, tax and total of a price. Minor units of the price's currency. */
export type TaxBreakdown = TaxRule & {
  readonly subtotalMinor: bigint
  readonly taxMinor: bigint
  readonly totalMinor: bigint
  /** Whether the price is the total. Otherwise the price is the subtotal. */
  readonly isInclusive: boolean
}

/**
 * Returns whether prices include their tax. `auto` follows the custom of the currency: prices in USD and CAD exclude
 * tax, all others include it.
 */
export function isTaxInclusive(behavior: TaxBehavior, currency: string): boolean {
  if (behavior === 'auto') return currency !== 'USD' && currency !== 'CAD'
  return behavior === 'inclusive'
}

/** Splits a price into subtotal and tax. The tax is rounded once, half away from zero. */
export function breakDownTax(
  priceMinor: bigint,
  rule: TaxRule,
  isInclusive: boolean,
): TaxBreakdown {
  const exact = taxOnPrice(priceMinor, rule.ratePerMille, isInclusive)
  const taxMinor = divideRounded(exact.numerator, exact.denominator)
  const subtotalMinor = isInclusive ? priceMinor - taxMinor : priceMinor
  return { ...rule, subtotalMinor, taxMinor, totalMinor: subtotalMinor + taxMinor, isInclusive }
}

/** Returns the price that `breakDownTax` was given. */
export function priceOfBreakdown(tax: TaxBreakdown): bigint {
  return tax.isInclusive ? tax.totalMinor : tax.subtotalMinor
}

export type TaxBreakdownJson = {
  readonly treatment: TaxTreatment
  readonly ratePerMille: string
  readonly country: string | null
  readonly region?: string
  readonly parts?: TaxPart[]
  readonly subtotalMinor: string
  readonly taxMinor: string
  readonly totalMinor: string
  readonly isInclusive: boolean
}

export function taxToJson(tax: TaxBreakdown): TaxBreakdownJson & JsonObject {
  return {
    treatment: tax.treatment,
    ratePerMille: tax.ratePerMille,
    country: tax.country,
    ...(tax.region !== undefined && { region: tax.region }),
    ...(tax.parts !== undefined && { parts: [...tax.parts] }),
    subtotalMinor: tax.subtotalMinor.toString(),
    taxMinor: tax.taxMinor.toString(),
    totalMinor: tax.totalMinor.toString(),
    isInclusive: tax.isInclusive,
  }
}

export function taxFromJson(json: TaxBreakdownJson): TaxBreakdown {
  return {
    ...json,
    subtotalMinor: BigInt(json.subtotalMinor),
    taxMinor: BigInt(json.taxMinor),
    totalMinor: BigInt(json.totalMinor),
  }
}
