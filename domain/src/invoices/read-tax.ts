import type { Queryable } from '@tollgate/platform/database/database'
import { findMerchant } from '../merchants/repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import { breakDownTax, isTaxInclusive, type TaxBreakdown } from './tax-breakdown.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import { decideTaxRule, type TaxTerms } from '../tax/tax-rule.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Invoice } from './invoice.ts'

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

/** An invoice before its tax is computed. */
type Untaxed = Pick<Invoice, 'customerRef' | 'purchaseRef' | 'planSnapshot' | 'currency'> & {
  readonly lines: readonly InvoiceLine[]
}

/**
 * Returns the tax lines of an invoice that is made now, from the customer's tax details. Returns no lines if the
 * customer never entered tax details.
 */
export async function readTaxLines(
  {
    sql,
    providerId,
    now,
  }: Pick<UnitOfWork, 'providerId' | 'now'> & { readonly sql: Queryable },
  { customerRef, purchaseRef, planSnapshot: plan, currency, lines }: Untaxed,
): Promise<InvoiceLine[]> {
  const details = await findTaxDetails(sql, providerId, customerRef)
  if (details === undefined) return []
  const productRef = await findProductOf(sql, providerId, purchaseRef)
  const sale = { productRef, plan, currency }
  return taxLines(lines, await readTaxTerms(sql, providerId, sale, details, now))
}

async function findProductOf(
  sql: Queryable,
  providerId: string,
  purchaseRef: string | null,
): Promise<string | null> {
  if (purchaseRef === null) return null
  const [row] = await sql<{ product_ref: string }[]>`
    select product_ref from purchases
    where provider_id = ${providerId} and reference = ${purchaseRef}`
  return row?.product_ref ?? null
}
