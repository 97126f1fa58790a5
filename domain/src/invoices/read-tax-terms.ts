import type { Queryable } from '@tollgate/platform/database/database'
import { findMerchant } from '../merchants/repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { breakDownTax, isTaxInclusive, type TaxBreakdown } from './tax-breakdown.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import { decideTaxRule, type TaxTerms } from '../tax/tax-rule.ts'

/** What is sold to whom. Whether the price contains the tax depends on the product, the plan and the currency. */
export type TaxedSale = {
  readonly customerRef: string
  readonly productRef: string | null
  readonly plan: Pick<PlanSnapshot, 'terms'> | null
  readonly currency: string
}

/** How the sale is taxed at that instant. */
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

/** What the price comes to with its tax, by what the customer told before; null where it never did. */
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
