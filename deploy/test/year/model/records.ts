import type { Mode } from './calendar.ts'
import type { ModelInvoice } from './invoices.ts'
import type { ModelPlan } from './plans.ts'

/* What the model keeps. Times are milliseconds, amounts minor units of the seller's currency. */

type Status =
  'active' | 'trialing' | 'past_due' | 'suspended' | 'cancelled' | 'expired' | 'refunded'

/** A purchase as it must be. Times are milliseconds. */
export type ModelPurchase = {
  reference: string
  /** What gave access until it took its place. */
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
  /** From when until when it stood still, each time. */
  readonly suspensions: { readonly from: number; until: number }[]
  remindedOf: number | null
  /** What it shows of charges that failed: any of these, where several failed at once. */
  retries: readonly Retry[]
  /** What it was sold for, in the seller's currency. */
  amount: bigint
  /** All that was told of it, in order. */
  readonly events: string[]
  /** Of its periods and its usage. */
  readonly invoices: ModelInvoice[]
  readonly usageBook: UsageBook
  /** Absent: its first period starts a full allowance of its own. */
  readonly allowance?: ModelAllowance | undefined
  /** Units that its first period allows after a change within a period. Absent: as many as its plan. */
  readonly firstCap?: number | undefined
}

type Retry = { readonly failures: number; readonly next: number | null }

/** What was billed of a purchase's usage. */
export type UsageBook = {
  /** By the start of their period. */
  readonly billed: Map<number, BilledPeriod>
  /** Up to where; null: all of it is. */
  billedUntil: number | null
  /** When what came late after that is billed; null: nothing more comes. */
  closesAt: number | null
}

/** What the first period of a purchase shares with the purchases before it: usage since then counts against it. */
export type ModelAllowance = { readonly since: number; readonly until: number }

type BilledPeriod = {
  readonly end: number
  /** Units that were billed, and units that other purchases had used before of the allowance that is shared. */
  units: number
  before: number
  /** Units that the period before had left. */
  readonly left: number
}

export type UsageRecord = {
  readonly productRef: string
  readonly at: number
  /** When it was sent. */
  readonly sentAt: number
  readonly units: number
}

/** What comes of charging the customer; there may be no card that could be. */
export type ModelCharge = 'paid' | 'declined' | 'no card'
