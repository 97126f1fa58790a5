import type { Queryable } from '@tollgate/platform/database/database'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { Coupon, CouponDuration } from './coupon.ts'

/** Columns of a coupon, also as JSON, in which dates are text. */
export type CouponRow = {
  reference: string
  code: string | null
  name: string
  percent_off: string | null
  amount_off: bigint | number | null
  currency: string | null
  duration: CouponDuration
  duration_invoices: number | null
  product_refs: string[]
  plan_refs: string[]
  redemptions_max: number | null
  redemptions_per_customer_max: number | null
  redeem_by: Date | string | null
  archived_at: Date | string | null
  created_at: Date | string
  updated_at: Date | string
}

/** Returns false if another coupon of the provider has the code. */
export async function insertCoupon(
  sql: Queryable,
  providerId: string,
  coupon: Coupon,
): Promise<boolean> {
  const inserted = await sql`
    insert into coupons
      (provider_id, reference, code, name, percent_off, amount_off, currency, duration, duration_invoices,
       product_refs, plan_refs, redemptions_max, redemptions_per_customer_max, redeem_by, archived_at,
       created_at, updated_at)
    values (${providerId}, ${coupon.reference}, ${coupon.code}, ${coupon.name}, ${coupon.percentOff},
      ${coupon.amountOffMinor?.toString() ?? null}, ${coupon.currency}, ${coupon.duration},
      ${coupon.durationInvoices}, ${[...coupon.productRefs]}, ${[...coupon.planRefs]},
      ${coupon.redemptionsMax}, ${coupon.redemptionsPerCustomerMax}, ${coupon.redeemBy},
      ${coupon.archivedAt}, ${coupon.createdAt}, ${coupon.updatedAt})
    on conflict (provider_id, code) do nothing returning 1`
  return inserted.length > 0
}

/** Stores every field of a coupon that can change. */
export async function updateCoupon(
  sql: Queryable,
  providerId: string,
  coupon: Coupon,
): Promise<void> {
  await sql`
    update coupons set name = ${coupon.name}, redemptions_max = ${coupon.redemptionsMax},
      redemptions_per_customer_max = ${coupon.redemptionsPerCustomerMax}, redeem_by = ${coupon.redeemBy},
      archived_at = ${coupon.archivedAt}, updated_at = ${coupon.updatedAt}
    where provider_id = ${providerId} and reference = ${coupon.reference}`
}

/** Locks and returns the coupon. Redemptions of it wait for each other, so its limits are exact. */
export async function lockCoupon(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Coupon | undefined> {
  const [row] = await sql<CouponRow[]>`
    select * from coupons where provider_id = ${providerId} and reference = ${reference} for update`
  return row && couponFromRow(row)
}

export async function findCoupon(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Coupon | undefined> {
  const [row] = await sql<CouponRow[]>`
    select * from coupons where provider_id = ${providerId} and reference = ${reference}`
  return row && couponFromRow(row)
}

/** `code` is normalized. */
export async function findCouponByCode(
  sql: Queryable,
  providerId: string,
  code: string,
): Promise<Coupon | undefined> {
  const [row] = await sql<CouponRow[]>`
    select * from coupons where provider_id = ${providerId} and code = ${code}`
  return row && couponFromRow(row)
}

export type CouponFilter = { readonly code?: string | undefined; readonly isArchived: boolean }

/** Returns a page of the coupons, newest first. */
export async function listCoupons(
  sql: Queryable,
  providerId: string,
  { code, isArchived }: CouponFilter,
  page: PageRange,
): Promise<{ readonly coupons: Coupon[]; readonly total: number }> {
  const matching = sql`
    from coupons where provider_id = ${providerId}
    ${isArchived ? sql`and archived_at is not null` : sql`and archived_at is null`}
    ${code === undefined ? sql`` : sql`and code = ${code}`}`
  const order = sql`created_at desc, reference`
  const { rows, total } = await selectPage<CouponRow>(sql, matching, order, page)
  return { coupons: rows.map(couponFromRow), total }
}

/** Returns how often each coupon was redeemed. Coupons that nobody redeemed are absent. */
export async function countRedemptions(
  sql: Queryable,
  providerId: string,
  couponRefs: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ coupon_ref: string; count: number }[]>`
    select coupon_ref, count(*)::int as count from discounts
    where provider_id = ${providerId} and coupon_ref = any(${[...couponRefs]}) group by coupon_ref`
  return new Map(rows.map(({ coupon_ref: reference, count }) => [reference, count]))
}

export function couponFromRow(row: CouponRow): Coupon {
  return {
    reference: row.reference,
    code: row.code,
    name: row.name,
    percentOff: row.percent_off === null ? null : shortest(String(row.percent_off)),
    amountOffMinor: row.amount_off === null ? null : BigInt(row.amount_off),
    currency: row.currency,
    duration: row.duration,
    durationInvoices: row.duration_invoices,
    productRefs: row.product_refs,
    planRefs: row.plan_refs,
    redemptionsMax: row.redemptions_max,
    redemptionsPerCustomerMax: row.redemptions_per_customer_max,
    redeemBy: dateOf(row.redeem_by),
    archivedAt: dateOf(row.archived_at),
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  }
}

function dateOf(value: Date | string | null): Date | null {
  return value === null ? null : new Date(value)
}

/** PostgreSQL writes `12.50` and `100.00`. */
function shortest(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}
