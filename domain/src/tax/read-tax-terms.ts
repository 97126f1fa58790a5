import type { Queryable } from '@tollgate/platform/database/database'
import { findMerchant } from '../merchants/repository.ts'
import { findProduct } from '../products/repository.ts'
import type { PlanSnapshot } from '../purchases/plan-snapshot.ts'
import { breakDownTax, isTaxInclusive, type TaxBreakdown } from './tax-breakdown.ts'
import type { TaxDetails } from './tax-details.ts'
import { findTaxDetails } from './tax-details-repository.ts'
import { decideTaxRule, type TaxRule } from './tax-rule.ts'

/** What is sold to whom. Whether the price contains the tax depends on the product, the plan and the currency. */
export type TaxedSale = {
  readonly customerRef: string
  readonly productRef: string | null
  readonly plan: Pick<PlanSnapshot, 'terms'> | null
  readonly currency: string
}

export type TaxTerms = {
  readonly rule: TaxRule
  /** Whether prices contain the tax. */
  readonly isInclusive: boolean
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

/** The same by what the customer told before. Undefined: it never did, and no tax is broken down. */
export async function findTaxTerms(
  sql: Queryable,
  providerId: string,
  sale: TaxedSale,
  at: Date,
): Promise<TaxTerms | undefined> {
  const details = await findTaxDetails(sql, providerId, sale.customerRef)
  return details && readTaxTerms(sql, providerId, sale, details, at)
}

/** What the price comes to with its tax; null where nobody knows. */
export async function findTax(
  sql: Queryable,
  providerId: string,
  sale: TaxedSale,
  priceMinor: bigint,
  at: Date,
): Promise<TaxBreakdown | null> {
  const terms = await findTaxTerms(sql, providerId, sale, at)
  return terms === undefined ? null : breakDownTax(priceMinor, terms.rule, terms.isInclusive)
}
