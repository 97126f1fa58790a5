import type { Queryable } from '@tollgate/platform/database/database'
import { findMerchant } from '../merchants/repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { breakDownTax, isTaxInclusive, type TaxBreakdown } from './tax-breakdown.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import { decideTaxRule, type TaxTerms } from '../tax/tax-rule.ts'

/**
 * A sale whose tax is to be computed. Whether the price includes the tax depends on the product, the plan and the
 * currency.
 */
export type TaxedSale = {
  readonly customerRef: string
  readonly productRef: string | null
  readonly plan: Pick<PlanSnapshot, 'terms'> | null
  readonly currency: string
}

/** Returns the tax terms of the sale at the given instant. */
export async function readTaxTerms(
  sql: Queryable,
  providerId: string,
  { productRef, plan, currency }: Omit<TaxedSale, 'customerRef'>,
  details: TaxDetails,
  at: Date,
): Promise<TaxTerms> {
  const merchant = await findMerchant(sql, providerId)
  const product = productRef === null ? undefined : await findProduct(sql, providerId, productRef)
  const behavior = plan?.terms.taxBehavior ?? product?.taxBehavior ?? 'auto'
  return {
    rule: decideTaxRule(merchant, details, at),
    isInclusive: isTaxInclusive(behavior, currency),
  }
}

/**
 * Returns the tax breakdown of the price from the customer's tax details, or null if the customer never entered any.
 */
export async function findTax(
  sql: Queryable,
  providerId: string,
  sale: TaxedSale,
  priceMinor: bigint,
  at: Date,
): Promise<TaxBreakdown | null> {
  const details = await findTaxDetails(sql, providerId, sale.customerRef)
  if (details === undefined) return null
  const { rule, isInclusive } = await readTaxTerms(sql, providerId, sale, details, at)
  return breakDownTax(priceMinor, rule, isInclusive)
}
