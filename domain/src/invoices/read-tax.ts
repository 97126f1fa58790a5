import type { Queryable } from '@tollgate/platform/database/database'
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
  const merchant = await findMerchant(sql, providerId)
  const buyer = (await findTaxDetails(sql, providerId, customerRef)) ?? defaultBuyer(merchant)
  return buyer && termsOf(sql, providerId, merchant, sale, buyer, at)
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
  // Whoever names a tax id that does not exist is taxed like a business without one.
  const known = check?.status === 'invalid' ? { ...place, taxId: null } : place
  return {
    rule: decideTaxRule(merchant, known, at),
    isInclusive: isTaxInclusive(behavior, currency),
  }
}

/** Returns the customer that someone without tax details is taken for, undefined if the seller has not said it. */
function defaultBuyer({ defaultTaxCountry, defaultTaxRegion }: Merchant): TaxBuyer | undefined {
  if (defaultTaxCountry === null) return undefined
  return { isBusiness: false, country: defaultTaxCountry, region: defaultTaxRegion, taxId: null }
}

/** Returns the tax breakdown of the price, or null if nothing says how the customer is taxed. */
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

/** Returns the tax lines of an invoice that is made now. Empty if nothing says how the customer is taxed. */
export async function readTaxLines(
  { sql, providerId, now }: Pick<UnitOfWork, 'providerId' | 'now'> & { readonly sql: Queryable },
  { customerRef, purchaseRef, planSnapshot: plan, currency, lines }: Untaxed,
): Promise<InvoiceLine[]> {
  const productRef = await findProductOf(sql, providerId, purchaseRef)
  const sale = { customerRef, productRef, plan, currency }
  const terms = await findTaxTerms(sql, providerId, sale, now)
  return terms === undefined ? [] : taxLines(lines, terms)
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
