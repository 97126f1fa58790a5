import type { Queryable } from '@tollgate/platform/database/database'
import type { ReadingAt, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Coupon, Discount } from './coupon.ts'
import { lockCoupon } from './coupons-repository.ts'
import { redemptionFaultOf, type RedemptionFault } from './decide-redemption.ts'
import { insertDiscount } from './discounts-repository.ts'

/** What a customer wants to redeem. */
export type Redemption = {
  readonly couponRef: string
  readonly customerRef: string
  /** Null for all invoices of the customer. */
  readonly purchaseRef: string | null
  /** The purchase that `purchaseRef` replaces, if its discounts have not moved yet. */
  readonly replacedRef?: string | null
}

/** What has happened before a coupon is redeemed. */
export type RedeemedBefore = {
  /** How many invoices the new discount has discounted already. */
  readonly invoicesUsed?: number
  /** When the payment that redeems the coupon was created: its price was promised by the end and the archive of the coupon then. */
  readonly heldSince?: Date | undefined
}

export type RedeemOutcome =
  | { readonly kind: 'redeemed'; readonly discount: Discount }
  | { readonly kind: 'refused'; readonly fault: RedemptionFault }
  | { readonly kind: 'not-found' }

/**
 * Redeems a coupon. The row of the coupon is locked, so of concurrent redemptions only as many succeed as its limits allow. The caller
 * has locked the customer, and the purchase if there is one. `reference`: the new discount.
 */
export async function redeemCoupon(
  work: UnitOfWork,
  redemption: Redemption,
  reference: string,
  { invoicesUsed = 0, heldSince }: RedeemedBefore = {},
): Promise<RedeemOutcome> {
  const { sql, providerId, now, actor } = work
  const { couponRef, customerRef, purchaseRef } = redemption
  const coupon = await lockCoupon(sql, providerId, couponRef)
  if (coupon === undefined) return { kind: 'not-found' }
  const fault = await findRedemptionFault(work, coupon, redemption, heldSince)
  if (fault !== undefined) return { kind: 'refused', fault }
  const { durationInvoices } = coupon
  const discount: Discount = {
    reference,
    coupon,
    customerRef,
    purchaseRef,
    invoicesLeft: durationInvoices === null ? null : durationInvoices - invoicesUsed,
    removedAt: null,
    redeemedBy: actor.name,
    createdAt: now,
  }
  await insertDiscount(sql, providerId, discount)
  await deleteHold(sql, providerId, redemption)
  return { kind: 'redeemed', discount }
}

/** Returns why the customer cannot redeem the coupon now. The answer is certain only while the coupon's row is locked. */
export async function findRedemptionFault(
  { sql, providerId, now }: ReadingAt,
  coupon: Coupon,
  { customerRef, purchaseRef, replacedRef = null }: Omit<Redemption, 'couponRef'>,
  heldSince?: Date,
): Promise<RedemptionFault | undefined> {
  const { reference } = coupon
  // Without a limit nothing is counted, and otherwise at most as many redemptions as the limit.
  const countedMax = coupon.redemptionsMax ?? 0
  const appliedRefs = [purchaseRef, replacedRef].filter((ref) => ref !== null)
  const [counts] = await sql<[{ redeemed: number; own: number; applied: number; held: number }]>`
    select count(*)::int as own,
      count(*) filter (where removed_at is null and invoices_left is distinct from 0
        and (purchase_ref is null or purchase_ref = any(${appliedRefs})))::int as applied,
      (select count(*)::int from (
        select 1 from discounts where provider_id = ${providerId} and coupon_ref = ${reference}
        limit ${countedMax}) as counted) as redeemed,
      (select count(*)::int from coupon_holds as hold
        join payment_intents as intent on intent.provider_id = hold.provider_id
          and intent.reference = intent_ref
        where ${countedMax} > 0 and hold.provider_id = ${providerId} and coupon_ref = ${reference}
          and hold.customer_ref <> ${customerRef} and hold.expires_at > ${now}
          and status not in ('canceled', 'failed', 'succeeded')) as held
    from discounts
    where provider_id = ${providerId} and coupon_ref = ${reference} and customer_ref = ${customerRef}`
  const { redeemed, own: redeemedByCustomer, held, applied } = counts
  const facts = {
    coupon,
    redeemed,
    redeemedByCustomer,
    held,
    isApplied: applied > 0,
    now,
    heldSince,
  }
  return redemptionFaultOf(facts)
}

/** Locks the coupon and returns why the customer cannot redeem it. Undefined if a hold can be inserted in this transaction. */
export async function lockRedeemable(
  work: UnitOfWork,
  { couponRef, customerRef }: Pick<Redemption, 'couponRef' | 'customerRef'>,
): Promise<RedemptionFault | undefined> {
  const coupon = await lockCoupon(work.sql, work.providerId, couponRef)
  if (coupon === undefined) return 'archived'
  return findRedemptionFault(work, coupon, { customerRef, purchaseRef: null })
}

/**
 * Holds a redemption for a payment, so that nobody else takes the last one while the customer pays. A customer holds a coupon once: a
 * further payment takes the hold over. It ends with the payment, and the coupon can be redeemed again after a payment that was never
 * made.
 */
export async function insertHold(
  { sql, providerId }: UnitOfWork,
  { couponRef, customerRef }: Pick<Redemption, 'couponRef' | 'customerRef'>,
  intent: { readonly reference: string; readonly expiresAt: Date },
): Promise<void> {
  await sql`
    insert into coupon_holds (provider_id, coupon_ref, customer_ref, intent_ref, expires_at)
    values (${providerId}, ${couponRef}, ${customerRef}, ${intent.reference}, ${intent.expiresAt})
    on conflict (provider_id, coupon_ref, customer_ref) do update
    set intent_ref = excluded.intent_ref, expires_at = excluded.expires_at`
}

async function deleteHold(
  sql: Queryable,
  providerId: string,
  { couponRef, customerRef }: Redemption,
): Promise<void> {
  await sql`
    delete from coupon_holds
    where provider_id = ${providerId} and coupon_ref = ${couponRef} and customer_ref = ${customerRef}`
}

/**
 * Deletes holds whose payments have ended, at most `rowsMax`. Returns their number. A payment that is not made ends after its time, so
 * no hold is kept for ever.
 */
export async function sweepHolds(sql: Queryable, rowsMax: number): Promise<number> {
  const deleted = await sql`
    delete from coupon_holds where (provider_id, coupon_ref, customer_ref) in (
      select hold.provider_id, hold.coupon_ref, hold.customer_ref from coupon_holds as hold
      where not exists (
        select from payment_intents as intent
        where intent.provider_id = hold.provider_id and intent.reference = hold.intent_ref
          and intent.status not in ('canceled', 'failed', 'succeeded'))
      limit ${rowsMax} for update skip locked)`
  return deleted.count
}
