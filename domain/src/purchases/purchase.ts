import type { WindowMove } from '@tollgate/platform/hot-state/taken-in'
import type { PurchaseOrigin, PurchaseStatus } from '@tollgate/schemas/http/purchases'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { CycleMode } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { SharedAllowance } from '../entitlements/shared-allowance.ts'

export type Purchase = {
  readonly reference: string
  readonly customerRef: string
  readonly customerEmail: string
  /** '' for a top-up of no product. */
  readonly productRef: string
  readonly productName: string
  /** Null for a credit top-up, like the snapshot. */
  readonly planRef: string | null
  readonly planSnapshot: PlanSnapshot | null
  readonly status: PurchaseStatus
  readonly origin: PurchaseOrigin
  /** USD cents. */
  readonly amountMinor: number
  /** Minor units of `currency`. */
  readonly originalAmountMinor: number | null
  readonly currency: string
  readonly exchangeRate: string | null
  /** Where its periods are counted from. */
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
  /** The billing date, or the end of the trial, that was told of beforehand. */
  readonly remindedOf: Date | null
  /** Where the period ends in which usage counts now; null: there is no next one. */
  readonly nextResetAt: Date | null
  /** Charges in a row that failed for the period that is due, and when the next one is tried. */
  readonly retryCount: number
  readonly nextRetryAt: Date | null
  /** The end of the first period whose usage is not billed yet; null: none is to be billed. */
  readonly nextUsageBillAt: Date | null
  /** Of one that has ended: when the usage of it that came late is billed, for the last time; null: not ended, or done. */
  readonly usageClosesAt: Date | null
  /** When it was last suspended, and when access was given back after that; null: it was not, or nobody noted it. */
  readonly suspendedAt: Date | null
  readonly accessRestoredAt: Date | null
  /** Where the period begins whose left units are settled, and how many they are, 10^-6. Null: none are. */
  readonly carriedInto: Date | null
  readonly carriedOverMicros: bigint | null
  /** When nothing can come any more of the period before, and what it leaves is settled; null: that does not matter. */
  readonly carrySettlesAt: Date | null
  /** The purchase that gave access until this one took its place; null: there was none. */
  readonly replaces: string | null
  /** What its first period shares with the purchase before it; null: it starts a full allowance of its own. */
  readonly allowance: SharedAllowance | null
  /** Of purchases that a refund undid: what was counted in their windows counts in one of its own. Oldest first. */
  readonly windowsTakenIn: readonly WindowMove[]
  /** Units that the price of its first period includes, 10^-6, after a change within a period; null: as many as the plan. */
  readonly firstIncludedMicros: bigint | null
  /** The plan that it changes to at a renewal; null: it stays with its plan. */
  readonly scheduledPlan: PlanSnapshot | null
  /** When it does; null: at its next renewal. */
  readonly scheduledPlanAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}
