import type { Mode } from './calendar.ts'
import type { ModelPlan } from './plans.ts'

/* What the model keeps. Times are milliseconds, amounts US cents. */

type Status =
  'active' | 'trialing' | 'past_due' | 'suspended' | 'cancelled' | 'expired' | 'refunded'

/** A purchase as it must be. Times are milliseconds. */
export type ModelPurchase = {
  reference: string
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
  remindedOf: number | null
  /** Charges of the period that is due which failed, and when the next one is to be tried. */
  failures: number
  nextRetry: number | null
  /** What it was sold for. US cents. */
  amount: number
  /** All that was told of it, in order. */
  readonly events: string[]
  /** What was charged beforehand, by the start of its period. */
  readonly billed: Map<number, BilledPeriod>
  readonly usageBook: UsageBook
}

export type BilledPeriod = {
  readonly end: number
  readonly cents: number
  isPaid: boolean
  failures: number
  /** When it is charged again; null: when there is another card. */
  nextCharge: number | null
}

/** What stands on an invoice. Times are milliseconds. */
type UsageLine = {
  readonly kind: 'usage' | 'late_usage'
  readonly start: number
  readonly end: number
  readonly cents: bigint
}

/** What was billed of a purchase's usage. */
export type UsageBook = {
  readonly lines: UsageLine[]
  /** Units that were billed, by the start of their period. */
  readonly billed: Map<number, { readonly end: number; units: number }>
  /** Up to where; null: all of it is. */
  billedUntil: number | null
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
