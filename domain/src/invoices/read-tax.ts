import type { Queryable } from '@tollgate/platform/database/database'
import { pipelined } from '../postgres/pipelined.ts'
import { findMerchant, type Merchant } from '../merchants/repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import { breakDownTax, isTaxInclusive, type TaxBreakdown } from './tax-breakdown.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import { findTaxIdCheck } from '../tax/tax-id-checks-repository.ts'
import { decideTaxRule, type TaxBuyer, type TaxTerms } from '../tax/tax-rule.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
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
  sale: Omit<TaxedSale, 'customerRef'>,
  details: TaxDetails,
  at: Date,
): Promise<TaxTerms> {
  return termsOf(sql, providerId, await findMerchant(sql, providerId), sale, details, at)
}

/**
 * Returns the tax terms of the sale to the customer at the given instant, or undefined if the customer never entered tax details and
 * the seller has no default for such customers.
 */
export async function findTaxTerms(
  sql: Queryable,
  providerId: string,
  { customerRef, ...sale }: TaxedSale,
  at: Date,
): Promise<TaxTerms | undefined> {
  const { merchant, buyer } = await findBuyer(sql, providerId, customerRef)
  return buyer && termsOf(sql, providerId, merchant, sale, buyer, at)
}

/** Returns the seller, and the customer as a buyer. The buyer is undefined without tax details and without a default country. */
async function findBuyer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<{ readonly merchant: Merchant; readonly buyer: TaxBuyer | undefined }> {
  const [merchant, details] = await pipelined([
    findMerchant(sql, providerId),
    findTaxDetails(sql, providerId, customerRef),
  ])
  return { merchant, buyer: details ?? defaultBuyer(merchant) }
}

async function termsOf(
  sql: Queryable,
  providerId: string,
  merchant: Merchant,
  { productRef, plan, currency }: Omit<TaxedSale, 'customerRef'>,
  buyer: TaxBuyer,
  at: Date,
): Promise<TaxTerms> {
  const product = productRef === null ? undefined : await findProduct(sql, providerId, productRef)
  const chosen = plan?.terms.taxBehavior ?? product?.taxBehavior ?? 'auto'
  const behavior = chosen === 'auto' ? (merchant.defaultTaxBehavior ?? 'auto') : chosen
  const { isBusiness, taxId } = buyer
  const place = buyer.country === null ? (defaultBuyer(merchant) ?? buyer) : buyer
  const check =
    isBusiness && taxId !== null ? await findTaxIdCheck(sql, providerId, taxId) : undefined
  // A business whose tax id is invalid is taxed like a business without a tax id.
  const known = check?.status === 'invalid' ? { ...place, taxId: null } : place
  return {
    rule: decideTaxRule(merchant, known, at),
    isInclusive: isTaxInclusive(behavior, currency),
  }
}

/** Returns the buyer that is assumed for a customer without tax details. Undefined if the seller has no default country. */
function defaultBuyer({ defaultTaxCountry, defaultTaxRegion }: Merchant): TaxBuyer | undefined {
  if (defaultTaxCountry === null) return undefined
  return { isBusiness: false, country: defaultTaxCountry, region: defaultTaxRegion, taxId: null }
}

/** Returns the tax breakdown of the price, or null if the customer has no tax details and the seller no default country. */
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

/** An invoice before its tax is computed. */
type Untaxed = Pick<Invoice, 'customerRef' | 'purchaseRef' | 'planSnapshot' | 'currency'> & {
  readonly lines: readonly InvoiceLine[]
}

/** Returns the tax lines of an invoice that is made now. Empty if the customer has no tax details and the seller no default country. */
export async function readTaxLines(
  { sql, providerId, now }: ReadingAt,
  { customerRef, purchaseRef, planSnapshot: plan, currency, lines }: Untaxed,
): Promise<InvoiceLine[]> {
  const { merchant, buyer } = await findBuyer(sql, providerId, customerRef)
  if (buyer === undefined) return []
  const productRef = await findProductOf(sql, providerId, purchaseRef)
  const sale = { productRef, plan, currency }
  return taxLines(lines, await termsOf(sql, providerId, merchant, sale, buyer, now))
}

/** Returns the product of the purchase, or null without one. */
export async function findProductOf(
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
