import type { Mode } from './calendar.ts'
import type { ModelInvoice } from './invoices.ts'
import type { ModelPlan } from './plans.ts'

/* What the model keeps. Times are milliseconds, amounts minor units of the seller's currency. */

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
}

type Retry = { readonly failures: number; readonly next: number | null }

/** What was billed of a purchase's usage. */
export type UsageBook = {
  /** Units that were billed, and those that the period before had left, by the start of their period. */
  readonly billed: Map<number, { readonly end: number; units: number; readonly left: number }>
  /** Up to where; null: all of it is. */
  billedUntil: number | null
  /** When what came late after that is billed; null: nothing more comes. */
  closesAt: number | null
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
