import type { Queryable } from '@tollgate/platform/database/database'
import { couponFromRow, type CouponRow } from './coupons-repository.ts'
import { isInScope, type Discount, type DiscountedSale } from './coupon.ts'
import type { PeriodDiscount } from './discount-lines.ts'

type DiscountRow = {
  reference: string
  customer_ref: string
  purchase_ref: string | null
  invoices_left: number | null
  removed_at: Date | null
  redeemed_by: string
  created_at: Date
  coupon: CouponRow
}

export async function insertDiscount(
  sql: Queryable,
  providerId: string,
  discount: Discount,
): Promise<void> {
  await sql`
    insert into discounts
      (provider_id, reference, coupon_ref, customer_ref, purchase_ref, invoices_left, redeemed_by, created_at)
    values (${providerId}, ${discount.reference}, ${discount.coupon.reference}, ${discount.customerRef},
      ${discount.purchaseRef}, ${discount.invoicesLeft}, ${discount.redeemedBy}, ${discount.createdAt})`
}

/** Which purchase is charged, and for what. */
export type DiscountedPurchase = DiscountedSale & {
  readonly customerRef: string
  /** Null for a purchase that does not exist yet. */
  readonly purchaseRef: string | null
}

/** Returns the discounts that apply to the next invoice of the purchase, oldest first. */
export async function listDiscountsFor(
  sql: Queryable,
  providerId: string,
  sale: DiscountedPurchase,
): Promise<Discount[]> {
  const rows = await sql<DiscountRow[]>`${discountsFor(sql, providerId, sale)}`
  return inScope(rows, sale)
}

/**
 * Like `listDiscountsFor`, and locks the discounts, so that each of their invoices is counted. The caller has locked the purchase.
 */
export async function lockDiscountsFor(
  sql: Queryable,
  providerId: string,
  sale: DiscountedPurchase,
): Promise<Discount[]> {
  const rows = await sql<DiscountRow[]>`
    ${discountsFor(sql, providerId, sale)} for no key update of discounts`
  return inScope(rows, sale)
}

function discountsFor(
  sql: Queryable,
  providerId: string,
  { customerRef, purchaseRef }: DiscountedPurchase,
) {
  return sql`
    ${selectDiscounts(sql)}
    where discounts.provider_id = ${providerId} and customer_ref = ${customerRef}
      and removed_at is null and invoices_left is distinct from 0
      and (purchase_ref is null or purchase_ref = ${purchaseRef} or (
        -- The last bills of a purchase keep the discounts that it had before they moved to the purchase that replaced it. What was
        -- redeemed for that purchase is not for earlier usage.
        discounts.created_at < (
          select ended_at from purchases
          where provider_id = ${providerId} and reference = ${purchaseRef})
        and purchase_ref in (
          with recursive heirs as (
            select ${purchaseRef}::text as reference
            union
            select purchases.reference from heirs join purchases on replaces = heirs.reference
            where purchases.provider_id = ${providerId} and purchases.customer_ref = ${customerRef}
          )
          select reference from heirs)))
    order by discounts.created_at, discounts.reference`
}

function inScope(rows: readonly DiscountRow[], sale: DiscountedSale): Discount[] {
  return rows.map(fromRow).filter(({ coupon }) => isInScope(coupon, sale))
}

/** Returns all discounts of the customer, newest first, including ended ones. */
export async function listDiscounts(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  rowsMax: number,
): Promise<Discount[]> {
  const rows = await sql<DiscountRow[]>`
    ${selectDiscounts(sql)}
    where discounts.provider_id = ${providerId} and customer_ref = ${customerRef}
    order by discounts.created_at desc, discounts.reference limit ${rowsMax}`
  return rows.map(fromRow)
}

/** Locks the discount. Returns undefined if it has ended, or the customer has no such discount. */
export async function lockRunningDiscount(
  sql: Queryable,
  providerId: string,
  { customerRef, reference }: Pick<Discount, 'customerRef' | 'reference'>,
): Promise<Discount | undefined> {
  const [row] = await sql<DiscountRow[]>`
    ${selectDiscounts(sql)}
    where discounts.provider_id = ${providerId} and discounts.reference = ${reference}
      and customer_ref = ${customerRef} and removed_at is null and invoices_left is distinct from 0
    for no key update of discounts`
  return row && fromRow(row)
}

/** Counts one more invoice of each discount. Those without an end stay as they are. */
export async function countInvoiceOf(
  sql: Queryable,
  providerId: string,
  references: readonly string[],
): Promise<void> {
  if (references.length === 0) return
  await sql`
    update discounts set invoices_left = invoices_left - 1
    where provider_id = ${providerId} and reference = any(${[...references]}) and invoices_left > 0`
}

/** Ends the discount from the next invoice on. Returns false if the customer has no such discount, or it has ended. */
export async function removeDiscount(
  sql: Queryable,
  providerId: string,
  { customerRef, reference }: Pick<Discount, 'customerRef' | 'reference'>,
  now: Date,
): Promise<boolean> {
  const removed = await sql`
    update discounts set removed_at = ${now}
    where provider_id = ${providerId} and reference = ${reference} and customer_ref = ${customerRef}
      and removed_at is null and invoices_left is distinct from 0
    returning 1`
  return removed.length > 0
}

/** Moves the discounts of purchases to the one that continues them. */
export async function moveDiscounts(
  sql: Queryable,
  providerId: string,
  fromRefs: readonly string[],
  toRef: string,
): Promise<void> {
  await sql`
    update discounts set purchase_ref = ${toRef}
    where provider_id = ${providerId} and purchase_ref = any(${[...fromRefs]})
      and removed_at is null`
}

/** Stores what discounts take off the price of a period of the purchase. */
export async function insertPeriodDiscounts(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStart: Date,
  amounts: readonly ({ readonly discountRef: string } & Pick<
    PeriodDiscount,
    'amountMinor' | 'elsewhereMinor'
  >)[],
): Promise<void> {
  if (amounts.length === 0) return
  const rows = amounts.map(({ discountRef, amountMinor, elsewhereMinor }) => ({
    provider_id: providerId,
    purchase_ref: purchaseRef,
    period_start: periodStart,
    discount_ref: discountRef,
    amount: amountMinor.toString(),
    elsewhere: elsewhereMinor.toString(),
  }))
  await sql`insert into discounted_periods ${sql(rows)} on conflict do nothing`
}

/** Returns what discounts took off the price of the newest discounted period of the purchase, in the order of the discounts. */
export async function listPeriodDiscounts(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
): Promise<PeriodDiscount[]> {
  const rows = await sql<
    (DiscountRow & { period_start: Date; amount: string; elsewhere: string })[]
  >`
    select ${columns(sql)}, period_start, amount, elsewhere
    from discounted_periods
    join discounts on discounts.provider_id = discounted_periods.provider_id
      and discounts.reference = discount_ref
    join coupons on coupons.provider_id = discounts.provider_id
      and coupons.reference = discounts.coupon_ref
    where discounted_periods.provider_id = ${providerId}
      and discounted_periods.purchase_ref = ${purchaseRef}
      and period_start = (
        select max(period_start) from discounted_periods
        where provider_id = ${providerId} and purchase_ref = ${purchaseRef})
    order by discounts.created_at, discounts.reference`
  return rows.map((row) => ({
    discount: fromRow(row),
    periodStart: row.period_start,
    amountMinor: BigInt(row.amount),
    elsewhereMinor: BigInt(row.elsewhere),
  }))
}

/** Returns the start of a query of discounts with their coupons. */
function selectDiscounts(sql: Queryable) {
  return sql`
    select ${columns(sql)}
    from discounts join coupons on coupons.provider_id = discounts.provider_id
      and coupons.reference = discounts.coupon_ref`
}

function columns(sql: Queryable) {
  return sql`
    discounts.reference, discounts.customer_ref, discounts.purchase_ref, discounts.invoices_left,
    discounts.removed_at, discounts.redeemed_by, discounts.created_at, to_jsonb(coupons) as coupon`
}

function fromRow(row: DiscountRow): Discount {
  return {
    reference: row.reference,
    coupon: couponFromRow(row.coupon),
    customerRef: row.customer_ref,
    purchaseRef: row.purchase_ref,
    invoicesLeft: row.invoices_left,
    removedAt: row.removed_at,
    redeemedBy: row.redeemed_by,
    createdAt: row.created_at,
  }
}
