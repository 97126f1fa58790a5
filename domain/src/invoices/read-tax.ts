import type { Queryable } from '@tollgate/platform/database/database'
import { pipelined } from '../postgres/pipelined.ts'
import { findMerchant, type Merchant } from '../merchants/repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import { breakDownTax, isTaxInclusive, type TaxBreakdown } from './tax-breakdown.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import { findTaxIdCheck } from '../tax/tax-id-checks-repository.ts'
import { decideTaxRule, type TaxBuyer, type TaxTerms } from '../tax/tax-rule.ts'
import { findTaxService } from '../tax-service/repository.ts'
import { ruleOfAnswer } from '../tax-service/rule-of-answer.ts'
import { decisionOn, TaxQuestion } from '../tax-service/tax-question.ts'
import type { TaxService } from '../tax-service/tax-service.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { askedSale } from './asked-sale.ts'
import type { TaxedSale } from './taxed-sale.ts'
import type { Invoice } from './invoice.ts'

/** Returns the tax terms of a sale that is made now. */
export async function readTaxTerms(
  reading: ReadingAt,
  sale: TaxedSale,
  details: TaxDetails,
): Promise<TaxTerms> {
  const { merchant, service } = await findSeller(reading)
  return termsOf(reading, { merchant, service, buyer: details }, sale)
}

/**
 * Returns the tax terms of the sale to the customer, or undefined if the customer never entered tax details and the seller has no
 * default for such customers.
 */
export async function findTaxTerms(
  reading: ReadingAt,
  sale: TaxedSale,
): Promise<TaxTerms | undefined> {
  const { buyer, ...seller } = await findParties(reading, sale.customerRef)
  return buyer && termsOf(reading, { ...seller, buyer }, sale)
}

type Seller = { readonly merchant: Merchant; readonly service: TaxService | undefined }

/** Sent together, because the tax of each invoice reads them. */
async function findSeller({ sql, providerId }: ReadingAt): Promise<Seller> {
  const [merchant, service] = await pipelined([
    findMerchant(sql, providerId),
    findTaxService(sql, providerId),
  ])
  return { merchant, service }
}

/** Returns the seller, and the customer as a buyer. The buyer is undefined without tax details and without a default country. */
async function findParties(
  reading: ReadingAt,
  customerRef: string,
): Promise<Seller & { readonly buyer: TaxedBuyer | undefined }> {
  const { sql, providerId } = reading
  const [seller, details] = await pipelined([
    findSeller(reading),
    findTaxDetails(sql, providerId, customerRef),
  ])
  return { ...seller, buyer: details ?? defaultBuyer(seller.merchant) }
}

type TaxedBuyer = TaxBuyer & Pick<TaxDetails, 'address'>

/**
 * Returns the terms by the provider's tax service, if there is one, and otherwise by the built-in rule. Throws a TaxQuestion that was
 * not asked yet, if it can be asked.
 */
async function termsOf(
  reading: ReadingAt,
  { merchant, service, buyer }: Seller & { readonly buyer: TaxedBuyer },
  sale: TaxedSale,
): Promise<TaxTerms> {
  const { sql, providerId, environment, now: at, asked } = reading
  const { productRef, plan, currency } = sale
  const product = productRef === null ? undefined : await findProduct(sql, providerId, productRef)
  const chosen = plan?.terms.taxBehavior ?? product?.taxBehavior ?? 'auto'
  const behavior = chosen === 'auto' ? (merchant.defaultTaxBehavior ?? 'auto') : chosen
  const { isBusiness, taxId } = buyer
  const place = buyer.country === null ? (defaultBuyer(merchant) ?? buyer) : buyer
  const check =
    isBusiness && taxId !== null ? await findTaxIdCheck(sql, providerId, taxId) : undefined
  // A business whose tax id is invalid is taxed like a business without a tax id.
  const known = check?.status === 'invalid' ? { ...place, taxId: null } : place
  const isInclusive = isTaxInclusive(behavior, currency)
  const canAsk = asked !== undefined && environment !== undefined
  if (service !== undefined && canAsk && priceOf(sale) !== 0n) {
    const address = buyer.address ?? null
    const isLive = environment === 'live'
    const facts = { merchant, buyer: { ...known, address }, sale, isInclusive, at, isLive }
    const decision = decisionOn(new TaxQuestion(providerId, service, askedSale(facts)), asked)
    if (decision !== 'built_in') return { rule: ruleOfAnswer(decision, known.country), isInclusive }
  }
  return { rule: decideTaxRule(merchant, known, at), isInclusive }
}

/** Returns the buyer that is assumed for a customer without tax details. Undefined if the seller has no default country. */
function defaultBuyer({ defaultTaxCountry, defaultTaxRegion }: Merchant): TaxBuyer | undefined {
  if (defaultTaxCountry === null) return undefined
  return { isBusiness: false, country: defaultTaxCountry, region: defaultTaxRegion, taxId: null }
}

/** Returns the tax breakdown of the sale, or null if the customer has no tax details and the seller no default country. */
export async function findTax(reading: ReadingAt, sale: TaxedSale): Promise<TaxBreakdown | null> {
  const terms = await findTaxTerms(reading, sale)
  if (terms === undefined) return null
  return breakDownTax(priceOf(sale), terms.rule, terms.isInclusive)
}

/** Returns the price before tax, in minor units. */
function priceOf({ lines }: TaxedSale): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}

/** An invoice before its tax is computed. */
type Untaxed = Pick<Invoice, 'customerRef' | 'purchaseRef' | 'planSnapshot' | 'currency'> & {
  readonly lines: readonly InvoiceLine[]
}

/** Returns the tax lines of an invoice that is made now. Empty if the customer has no tax details and the seller no default country. */
export async function readTaxLines(
  reading: ReadingAt,
  { customerRef, purchaseRef, planSnapshot: plan, currency, lines }: Untaxed,
): Promise<InvoiceLine[]> {
  const { buyer, ...seller } = await findParties(reading, customerRef)
  if (buyer === undefined) return []
  const productRef = await findProductOf(reading.sql, reading.providerId, purchaseRef)
  const sale = { customerRef, productRef, plan, currency, lines }
  return taxLines(lines, await termsOf(reading, { ...seller, buyer }, sale))
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
