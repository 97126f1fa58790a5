import type { Queryable } from '@tollgate/platform/database/database'
import type { Purchase } from './repository.ts'

/** What machines move, and what changes nothing for anybody else. */
export async function updateCalendar(
  sql: Queryable,
  providerId: string,
  {
    reference,
    remindedOf,
    nextResetAt,
  }: Pick<Purchase, 'reference' | 'remindedOf' | 'nextResetAt'>,
): Promise<void> {
  await sql`
    update purchases set reminded_of = ${remindedOf}, next_reset_at = ${nextResetAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

/** Up to where its usage is billed, and when what comes late is. */
export async function updateUsageBilling(
  sql: Queryable,
  providerId: string,
  {
    reference,
    nextUsageBillAt,
    usageClosesAt,
  }: Pick<Purchase, 'reference' | 'nextUsageBillAt' | 'usageClosesAt'>,
): Promise<void> {
  await sql`
    update purchases
    set next_usage_bill_at = ${nextUsageBillAt}, usage_closes_at = ${usageClosesAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

/** What the period that runs was left, once that is settled, and when it is. */
export async function updateCarry(
  sql: Queryable,
  providerId: string,
  {
    reference,
    carriedInto,
    carriedOverMicros,
    carrySettlesAt,
  }: Pick<Purchase, 'reference' | 'carriedInto' | 'carriedOverMicros' | 'carrySettlesAt'>,
): Promise<void> {
  await sql`
    update purchases
    set carried_into = ${carriedInto}, carried_over_micros = ${carriedOverMicros?.toString() ?? null},
      carry_settles_at = ${carrySettlesAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

/**
 * When the customer's purchase of the product before this one ended; undefined without one. Until then what was used was
 * used of that one.
 */
export async function findEndOfPrevious(
  sql: Queryable,
  providerId: string,
  {
    reference,
    customerRef,
    productRef,
    startDate,
    createdAt,
  }: Pick<Purchase, 'reference' | 'customerRef' | 'productRef' | 'startDate' | 'createdAt'>,
): Promise<Date | undefined> {
  const [row] = await sql<{ ended_at: Date | null }[]>`
    select max(ended_at) as ended_at from purchases
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} and plan_ref is not null and reference <> ${reference}
      and start_date <= ${startDate} and ended_at <= ${createdAt}`
  return row?.ended_at ?? undefined
}
