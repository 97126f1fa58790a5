import type { Mode } from './calendar.ts'
import type { ModelInvoice } from './invoices.ts'
import type { ModelPlan } from './plans.ts'

/* Records of the model. Times are milliseconds, amounts minor units of the seller's currency. */

type Status =
  'active' | 'trialing' | 'past_due' | 'suspended' | 'cancelled' | 'expired' | 'refunded'

/** The expected state of a purchase. Times are milliseconds. */
export type ModelPurchase = {
  reference: string
  /** The purchase that gave access until this one replaced it. */
  before: ModelPurchase | undefined
  readonly productRef: string
  readonly plan: ModelPlan
  readonly mode: Mode
  readonly startedAt: number
  readonly anchor: number
  status: Status
  autoRenew: boolean
  nextBilling: number | null
  nextReset: number | null
  end: number | null
  endedAt: number | null
  cancelledAt: number | null
  /** Start and end of each suspension. */
  readonly suspensions: { readonly from: number; until: number }[]
  remindedOf: number | null
  /** Possible values of the shown retry. If several charges failed at once, any of these may be shown. */
  retries: readonly Retry[]
  /** Price of the purchase in the seller's currency. */
  amount: bigint
  /** All emitted events in order. */
  readonly events: string[]
  /** Invoices of its periods and its usage. */
  readonly invoices: ModelInvoice[]
  readonly usageBook: UsageBook
  /** Absent: the first period starts with a full allowance. */
  readonly allowance?: ModelAllowance | undefined
  /** Units that the first period allows after a change within a period. Absent: the units of the plan. */
  readonly firstCap?: number | undefined
}

type Retry = { readonly failures: number; readonly next: number | null }

/** Billed usage of a purchase. */
export type UsageBook = {
  /** Billed periods by their start. */
  readonly billed: Map<number, BilledPeriod>
  /** End of the billed usage. Null: everything is billed. */
  billedUntil: number | null
  /** Time at which later usage is billed. Null: no more usage is accepted. */
  closesAt: number | null
}

/** Allowance that the first period shares with earlier purchases. Usage since `since` counts against it. */
export type ModelAllowance = { readonly since: number; readonly until: number }

type BilledPeriod = {
  readonly end: number
  /** Billed units, and units that other purchases had used before from the shared allowance. */
  units: number
  before: number
  /** Units carried over from the previous period. */
  readonly left: number
}

export type UsageRecord = {
  readonly productRef: string
  readonly at: number
  /** Time at which the record was sent. */
  readonly sentAt: number
  readonly units: number
}

/** Result of a charge. The customer may have no usable card. */
export type ModelCharge = 'paid' | 'declined' | 'no card'
