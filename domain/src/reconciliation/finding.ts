/** Kinds of comparisons, each with the sources that are compared. */
export const comparedKinds = [
  // Compared with the payment processor.
  'payment',
  'refund',
  'dispute',
  'payout',
  // Payments, refunds, disputes and payouts, compared with their postings in the ledger.
  'posting',
  // Top-up credits, compared with the payments that bought them.
  'top_up',
  // Counters of current periods, compared with the usage records.
  'counter',
  // Usage charged on invoices, compared with the usage records.
  'billed_usage',
  // Wallets, compared with the ledger and with hot state.
  'wallet',
  // Invoices, compared with the amounts calculated from their stored inputs.
  'invoice',
] as const
export type ComparedKind = (typeof comparedKinds)[number]

export type Difference =
  /** Only the other side has the object. */
  | 'missing_here'
  /** Only we have the object. */
  | 'missing_there'
  /** Both sides have the object, with different values. */
  | 'differs'

/** A difference between two sides that is not a change in progress. */
export type Finding = {
  /** The provider of the object; undefined if it is unknown. */
  readonly providerId: string | undefined
  readonly kind: ComparedKind
  readonly difference: Difference
  /** Our reference, or the other side's id if we have none. */
  readonly reference: string
  /** What each side has, as text for people; null if it has nothing. */
  readonly ours: string | null
  readonly theirs: string | null
  /** Since when the difference exists, as far as is known. */
  readonly since: Date
  /** Whether applying the processor's state again has repaired the difference. */
  readonly isRepaired: boolean
}

/** Derived data that can be rebuilt from its source without a decision by a person. */
export type Repair =
  /** The counts of a log partition, rebuilt from the records. */
  | { readonly kind: 'counts'; readonly partition: number }
  /** The published documents of a customer, rebuilt from the database. */
  | { readonly kind: 'published'; readonly providerId: string; readonly customerRef: string }

/** `isForbidden`: the source of the rebuild is itself wrong. */
export type PossibleRepair = { readonly repair: Repair; readonly isForbidden: boolean }

/** Collects what was compared, and the results. */
export type Tally = {
  compared(providerId: string, kind: ComparedKind, count?: number): void
  found(finding: Finding): void
  /** Adds a repair that would fix a finding. */
  canRepair(repair: Repair): void
  /** Forbids a repair, because its source is itself wrong. */
  mustNotRepair(repair: Repair): void
  /** Records that objects of the kind could not be compared. */
  couldNotCompare(kind: ComparedKind, reason: string): void
}
