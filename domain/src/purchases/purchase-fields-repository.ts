import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import type { ScheduledFields } from './purchase.ts'
import type { Purchase } from './repository.ts'

/** Stores dates that only jobs change, without an event or a publication. */
export async function updateJobDates(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'remindedOf' | 'nextResetAt'>,
): Promise<void> {
  await sql`
    update purchases set reminded_of = ${purchase.remindedOf}, next_reset_at = ${purchase.nextResetAt}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/** Stores up to which period usage is billed, and when late usage is billed. */
export async function updateUsageBilling(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'nextUsageBillAt' | 'usageClosesAt'>,
): Promise<void> {
  await sql`
    update purchases
    set next_usage_bill_at = ${purchase.nextUsageBillAt}, usage_closes_at = ${purchase.usageClosesAt}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/**
 * Stores a bill within a period: up to when it charged usage, and the limit of unbilled usage in the rest of the period; undefined
 * if the plan has none.
 */
export async function updateUsageBilledTo(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'usageBilledTo' | 'raisedUnbilled'>,
): Promise<void> {
  const { raisedUnbilled: raised } = purchase
  await sql`
    update purchases
    set usage_billed_to = ${purchase.usageBilledTo ?? null},
      unbilled_raised_from = ${raised?.periodStart ?? null},
      unbilled_raised_micros = ${raised?.micros.toString() ?? null}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/** Stores the windows of refunded purchases that this purchase includes from its next publication on. */
export async function updateWindowsTakenIn(
  sql: Queryable,
  providerId: string,
  { reference, windowsTakenIn }: Pick<Purchase, 'reference' | 'windowsTakenIn'>,
): Promise<void> {
  await sql`
    update purchases set windows_taken_in = ${jsonb(sql, windowsTakenIn)}
    where provider_id = ${providerId} and reference = ${reference}`
}

/** Stores the terms of a trial, and the units that it includes. Nothing of it was charged, so they change in place. */
export async function updateTrialTerms(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'planSnapshot' | 'firstIncludedMicros' | 'updatedAt'>,
): Promise<void> {
  await sql`
    update purchases
    set plan_snapshot = ${jsonb(sql, purchase.planSnapshot)},
      first_included_micros = ${purchase.firstIncludedMicros?.toString() ?? null},
      updated_at = ${purchase.updatedAt}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/** Stores the scheduled plan, its date, and how and by whom it was scheduled. */
export async function updateScheduledPlan(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | keyof ScheduledFields>,
): Promise<void> {
  await sql`
    update purchases
    set scheduled_plan = ${purchase.scheduledPlan === null ? null : jsonb(sql, purchase.scheduledPlan)},
      scheduled_plan_at = ${purchase.scheduledPlanAt},
      scheduled_plan_billing = ${purchase.scheduledBilling ?? null},
      scheduled_migration = ${purchase.scheduledMigration ?? null},
      is_scheduled_by_provider = ${purchase.isScheduledByProvider === true},
      scheduled_terms_at = ${purchase.scheduledTermsAt ?? null}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/** Stores when the terms of a purchase were those of its plan, if that was before the purchase was created. */
export async function updateTermsAt(
  sql: Queryable,
  providerId: string,
  { reference, termsAt }: { readonly reference: string; readonly termsAt: Date },
): Promise<void> {
  await sql`
    update purchases set terms_at = ${termsAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

/** Returns whether a purchase of the product changes to the plan later. */
export async function isPlanScheduled(
  sql: Queryable,
  providerId: string,
  productRef: string,
  planRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from purchases
    where provider_id = ${providerId} and product_ref = ${productRef} and ended_at is null
      and scheduled_plan->>'reference' = ${planRef}
    limit 1`
  return rows.length > 0
}

/** Stores the units carried over into the current period, and when they are settled. */
export async function updateCarryOver(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'carriedInto' | 'carriedOverMicros' | 'carrySettlesAt'>,
): Promise<void> {
  await sql`
    update purchases
    set carried_into = ${purchase.carriedInto}, carried_over_micros = ${purchase.carriedOverMicros?.toString() ?? null},
      carry_settles_at = ${purchase.carrySettlesAt}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/**
 * Returns when the customer's previous purchase of the product ended, undefined if there is none. Usage until then counts for the
 * previous purchase.
 */
export async function findEndOfPrevious(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'customerRef' | 'productRef' | 'startDate' | 'createdAt'>,
): Promise<Date | undefined> {
  const [row] = await sql<{ ended_at: Date | null }[]>`
    select max(ended_at) as ended_at from purchases
    where provider_id = ${providerId} and customer_ref = ${purchase.customerRef}
      and product_ref = ${purchase.productRef} and plan_ref is not null and not is_pack and reference <> ${purchase.reference}
      and start_date <= ${purchase.startDate} and ended_at <= ${purchase.createdAt}`
  return row?.ended_at ?? undefined
}

/** Returns whether an ended purchase of the customer and product still has a period to bill. */
export async function hasEndedUnbilled(
  sql: Queryable,
  providerId: string,
  purchase: Pick<Purchase, 'reference' | 'customerRef' | 'productRef'>,
): Promise<boolean> {
  const rows = await sql`
    select 1 from purchases
    where provider_id = ${providerId} and customer_ref = ${purchase.customerRef}
      and product_ref = ${purchase.productRef} and plan_ref is not null and not is_pack
      and reference <> ${purchase.reference} and ended_at is not null
      and next_usage_bill_at is not null and status not in ('pending', 'trialing', 'refunded')
    limit 1`
  return rows.length > 0
}

/** Deletes the cancellation reasons of a customer, because they contain the customer's own words. */
export async function eraseCancellationReasons(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    update purchases set cancellation_reason = null
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and cancellation_reason is not null`
}
