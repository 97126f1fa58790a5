import type { PurchaseOrigin, PurchaseStatus } from '@tollgate/schemas/http/purchases'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import type { WindowMove } from '@tollgate/platform/hot-state/taken-in'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { CycleMode } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { OverridesVersion } from '../overrides/overrides.ts'
import type { Purchase } from './purchase.ts'
import type { SharedAllowance } from '../entitlements/shared-allowance.ts'

export type PurchaseRow = {
  reference: string
  customer_ref: string
  customer_email: string
  product_ref: string | null
  product_name: string | null
  plan_ref: string | null
  plan_snapshot: PlanSnapshot | null
  status: PurchaseStatus
  origin: PurchaseOrigin
  amount: bigint
  original_amount: bigint | null
  currency: string
  exchange_rate: string | null
  anchor: Date
  cycle_mode: CycleMode
  billing_cycle: string | null
  is_recurring: boolean
  auto_renew: boolean
  start_date: Date
  end_date: Date | null
  next_billing_date: Date | null
  paid_at: Date | null
  cancelled_at: Date | null
  cancellation_reason: string | null
  ended_at: Date | null
  metadata: JsonObject
  reminded_of: Date | null
  next_reset_at: Date | null
  retry_count: number
  next_retry_at: Date | null
  next_usage_bill_at: Date | null
  usage_closes_at: Date | null
  usage_billed_to: Date | null
  unbilled_raised_from: Date | null
  unbilled_raised_micros: bigint | null
  suspended_at: Date | null
  access_restored_at: Date | null
  carried_into: Date | null
  carried_over_micros: bigint | null
  carry_settles_at: Date | null
  replaces: string | null
  allowance_window: string | null
  allowance_since: Date | null
  allowance_until: Date | null
  windows_taken_in: readonly WindowMove[] | null
  first_included_micros: bigint | null
  first_paid: bigint | null
  scheduled_plan: PlanSnapshot | null
  scheduled_plan_at: Date | null
  scheduled_plan_billing: ChangeBilling | null
  scheduled_migration: string | null
  is_scheduled_by_provider: boolean
  scheduled_terms_at: Date | null
  terms_at: Date | null
  overrides: readonly OverridesVersion[] | null
  is_pack: boolean
  created_at: Date
  updated_at: Date
}

/** Fields of a purchase that decide about access and counting. */
export type EntitlingPurchase = Pick<
  Purchase,
  | 'reference'
  | 'customerRef'
  | 'productRef'
  | 'planSnapshot'
  | 'status'
  | 'anchor'
  | 'cycleMode'
  | 'startDate'
  | 'endDate'
  | 'endedAt'
  | 'updatedAt'
  | 'suspendedAt'
  | 'accessRestoredAt'
  | 'carriedInto'
  | 'carriedOverMicros'
  | 'allowance'
  | 'windowsTakenIn'
  | 'firstIncludedMicros'
  | 'raisedUnbilled'
  | 'overrides'
>

/** Product name of a top-up without a product. */
export const topUpName = 'Credit top-up'

export type EntitlingRow = Pick<
  PurchaseRow,
  | 'reference'
  | 'customer_ref'
  | 'product_ref'
  | 'plan_snapshot'
  | 'status'
  | 'anchor'
  | 'cycle_mode'
  | 'start_date'
  | 'end_date'
  | 'ended_at'
  | 'updated_at'
  | 'suspended_at'
  | 'access_restored_at'
  | 'carried_into'
  | 'carried_over_micros'
  | 'allowance_window'
  | 'allowance_since'
  | 'allowance_until'
  | 'windows_taken_in'
  | 'first_included_micros'
  | 'unbilled_raised_from'
  | 'unbilled_raised_micros'
  | 'overrides'
>

export function toEntitling(row: EntitlingRow): EntitlingPurchase {
  return {
    reference: row.reference,
    customerRef: row.customer_ref,
    productRef: row.product_ref ?? '',
    planSnapshot: row.plan_snapshot,
    status: row.status,
    anchor: row.anchor,
    cycleMode: row.cycle_mode,
    startDate: row.start_date,
    endDate: row.end_date,
    endedAt: row.ended_at,
    updatedAt: row.updated_at,
    suspendedAt: row.suspended_at,
    accessRestoredAt: row.access_restored_at,
    carriedInto: row.carried_into,
    carriedOverMicros: row.carried_over_micros,
    allowance: allowanceOf(row),
    windowsTakenIn: row.windows_taken_in ?? [],
    firstIncludedMicros: row.first_included_micros,
    ...raisedUnbilledOf(row),
    ...(row.overrides === null ? {} : { overrides: row.overrides }),
  }
}

function raisedUnbilledOf(row: EntitlingRow): Pick<Purchase, 'raisedUnbilled'> {
  const { unbilled_raised_from: periodStart, unbilled_raised_micros: micros } = row
  return periodStart === null || micros === null ? {} : { raisedUnbilled: { periodStart, micros } }
}

function allowanceOf(row: EntitlingRow): SharedAllowance | null {
  const { allowance_window: window, allowance_since: since, allowance_until: until } = row
  return window === null || since === null || until === null ? null : { window, since, until }
}

export function fromRow(row: PurchaseRow): Purchase {
  return {
    ...toEntitling(row),
    customerEmail: row.customer_email,
    productName: row.product_name ?? topUpName,
    planRef: row.plan_ref,
    origin: row.origin,
    amountMinor: Number(row.amount),
    originalAmountMinor: row.original_amount === null ? null : Number(row.original_amount),
    currency: row.currency,
    exchangeRate: row.exchange_rate,
    billingCycle: row.billing_cycle,
    isRecurring: row.is_recurring,
    autoRenew: row.auto_renew,
    nextBillingDate: row.next_billing_date,
    paidAt: row.paid_at,
    cancelledAt: row.cancelled_at,
    cancellationReason: row.cancellation_reason,
    metadata: row.metadata,
    remindedOf: row.reminded_of,
    nextResetAt: row.next_reset_at,
    retryCount: row.retry_count,
    nextRetryAt: row.next_retry_at,
    nextUsageBillAt: row.next_usage_bill_at,
    usageClosesAt: row.usage_closes_at,
    ...(row.usage_billed_to === null ? {} : { usageBilledTo: row.usage_billed_to }),
    carrySettlesAt: row.carry_settles_at,
    ...(row.first_paid === null ? {} : { firstPaidMinor: row.first_paid }),
    isPack: row.is_pack,
    replaces: row.replaces,
    scheduledPlan: row.scheduled_plan,
    scheduledPlanAt: row.scheduled_plan_at,
    ...(row.scheduled_plan_billing === null
      ? {}
      : { scheduledBilling: row.scheduled_plan_billing }),
    ...(row.scheduled_migration === null ? {} : { scheduledMigration: row.scheduled_migration }),
    ...(row.is_scheduled_by_provider ? { isScheduledByProvider: true } : {}),
    ...(row.scheduled_terms_at === null ? {} : { scheduledTermsAt: row.scheduled_terms_at }),
    ...(row.terms_at === null ? {} : { termsAt: row.terms_at }),
    createdAt: row.created_at,
  }
}
