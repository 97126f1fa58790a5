import type { WindowMove } from '@tollgate/platform/hot-state/taken-in'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import type { PurchaseOrigin, PurchaseStatus } from '@tollgate/schemas/http/purchases'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { CycleMode } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { SharedAllowance } from '../entitlements/shared-allowance.ts'
import type { OverridesVersion } from '../overrides/overrides.ts'

export type Purchase = {
  readonly reference: string
  readonly customerRef: string
  readonly customerEmail: string
  /** Reference of the product; empty for a top-up without one. */
  readonly productRef: string
  readonly productName: string
  /** Reference of the plan; null for a top-up, like the snapshot. */
  readonly planRef: string | null
  readonly planSnapshot: PlanSnapshot | null
  readonly status: PurchaseStatus
  readonly origin: PurchaseOrigin
  /** Amount in USD cents. */
  readonly amountMinor: number
  /** Amount in minor units of `currency`. */
  readonly originalAmountMinor: number | null
  readonly currency: string
  readonly exchangeRate: string | null
  /** Instant from which periods are counted. */
  readonly anchor: Date
  readonly cycleMode: CycleMode
  readonly billingCycle: string | null
  readonly isRecurring: boolean
  readonly autoRenew: boolean
  readonly startDate: Date
  readonly endDate: Date | null
  readonly nextBillingDate: Date | null
  readonly paidAt: Date | null
  readonly cancelledAt: Date | null
  readonly cancellationReason: string | null
  readonly endedAt: Date | null
  readonly metadata: JsonObject
  /** The billing date or trial end for which a reminder was sent. */
  readonly remindedOf: Date | null
  /** End of the current usage period; null if no further period follows. */
  readonly nextResetAt: Date | null
  /** Number of consecutive failed charges for the due period, and when the next charge is tried. */
  readonly retryCount: number
  readonly nextRetryAt: Date | null
  /** End of the first period whose usage is not billed yet; null if no usage is to be billed. */
  readonly nextUsageBillAt: Date | null
  /** When late usage of an ended purchase is billed for the last time; null if it has not ended, or that is done. */
  readonly usageClosesAt: Date | null
  /** Up to when a bill within a period has charged its usage. Absent if there was none. Only moves forward. */
  readonly usageBilledTo?: Date | undefined
  /** The limit of unbilled usage in the period of that bill. Absent if the plan has no such limit. */
  readonly raisedUnbilled?: RaisedUnbilled | undefined
  /**
   * When the purchase was last suspended, and when its access was restored after that. Null if it was not, or if that was not
   * recorded.
   */
  readonly suspendedAt: Date | null
  readonly accessRestoredAt: Date | null
  /** Start of the period into which units were carried over, and their number, 10^-6. Null if nothing was settled. */
  readonly carriedInto: Date | null
  readonly carriedOverMicros: bigint | null
  /** When the units carried over into the current period become final; null if no units are carried over. */
  readonly carrySettlesAt: Date | null
  /** The purchase that gave access until this one replaced it; null if there was none. */
  readonly replaces: string | null
  /** The allowance that its first period shares with the purchase before it; null if it starts a full allowance. */
  readonly allowance: SharedAllowance | null
  /** Windows of refunded purchases. Their usage counts in a window of this purchase. Oldest first. */
  readonly windowsTakenIn: readonly WindowMove[]
  /**
   * Units included in the price of the first period after a change within a period, 10^-6; null for as many as the plan includes.
   */
  readonly firstIncludedMicros: bigint | null
  /**
   * What was charged for the first period, in minor units, if a change kept that period, or if the price changed while the customer
   * paid. Absent: the price of that period.
   */
  readonly firstPaidMinor?: bigint | undefined
  /** The plan to which the purchase changes at a renewal; null if it keeps its plan. */
  readonly scheduledPlan: PlanSnapshot | null
  /** When the purchase changes to that plan; null for its next renewal. */
  readonly scheduledPlanAt: Date | null
  /** How a change at that time is billed, within the running period. Absent if it waits for the first renewal from then on. */
  readonly scheduledBilling?: ChangeBilling | undefined
  /** The migration that scheduled the change. Absent if the customer chose it, or the provider for this purchase. */
  readonly scheduledMigration?: string | undefined
  /** Whether the provider scheduled the change, for this purchase or with a migration. Absent if the customer chose it. */
  readonly isScheduledByProvider?: boolean | undefined
  /** When the scheduled terms were those of the plan. Absent if that was not recorded. */
  readonly scheduledTermsAt?: Date | undefined
  /** When the terms of the purchase were those of its plan. Absent if that was when it was created. */
  readonly termsAt?: Date | undefined
  /** The customer's overrides of the product, oldest first. Absent if there never were any. */
  readonly overrides?: readonly OverridesVersion[] | undefined
  /** A pack: its units are used beside the running purchase, and it gives no access. */
  readonly isPack: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The fields of a scheduled change of plan. */
export type ScheduledFields = Pick<
  Purchase,
  | 'scheduledPlan'
  | 'scheduledPlanAt'
  | 'scheduledBilling'
  | 'scheduledMigration'
  | 'isScheduledByProvider'
  | 'scheduledTermsAt'
>

/** A change of plan that a purchase makes later. */
export type ChangeToSchedule = {
  readonly plan: PlanSnapshot
  readonly at: Date
  /** When the terms were those of the plan. Undefined: not known. */
  readonly termsAt: Date | undefined
  /** Undefined: the change takes effect with the first renewal from `at` on. */
  readonly billing?: ChangeBilling | undefined
  /** The migration that schedules the change. Undefined: the change is of this purchase alone. */
  readonly migration?: string | undefined
  /** Whether the provider schedules the change. Undefined: the customer chooses it. */
  readonly isByProvider?: boolean | undefined
}

/** The limit of unbilled usage counts from the last bill, so a bill within a period raises it for the rest of that period. */
export type RaisedUnbilled = {
  readonly periodStart: Date
  /** Units of the period, 10^-6, from its start. Units that were carried over are added if the plan adds them. */
  readonly micros: bigint
}
