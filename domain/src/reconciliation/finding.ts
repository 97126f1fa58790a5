/** What is compared, each with where its truth lies besides our own rows. */
export const comparedKinds = [
  // With the payment processor.
  'payment',
  'refund',
  'dispute',
  'payout',
  // Payments, refunds, disputes and payouts with the postings they left in the ledger.
  'posting',
  // Credits that were put in with the payments that bought them.
  'top_up',
  // Counters of running periods with the records.
  'counter',
  // What an invoice charged usage for with the records.
  'billed_usage',
  // Credits with the ledger, and with the hot state.
  'wallet',
  // Invoices with what their inputs come to.
  'invoice',
] as const
export type ComparedKind = (typeof comparedKinds)[number]

export type Difference =
  /** Only the other side has it. */
  | 'missing_here'
  /** Only we have it. */
  | 'missing_there'
  /** Both have it, and not alike. */
  | 'differs'

/** Something that is not the same on both sides, and was not in the middle of changing. */
export type Finding = {
  /** Undefined where it is no provider's that we know. */
  readonly providerId: string | undefined
  readonly kind: ComparedKind
  readonly difference: Difference
  /** Ours, or the other side's where we have none. */
  readonly reference: string
  /** What each side has, in words and numbers for people; null where it has nothing. */
  readonly ours: string | null
  readonly theirs: string | null
  /** Since when it is so, as far as the two sides tell. */
  readonly since: Date
  /** Looking again has set it right. */
  readonly isRepaired: boolean
}

/** What is made of something else, and can be made again of it without anybody deciding anything. */
export type Repair =
  /** The counts of a partition of the log, of the records. */
  | { readonly kind: 'counts'; readonly partition: number }
  /** What is published of a customer, of the database. */
  | { readonly kind: 'published'; readonly providerId: string; readonly customerRef: string }

/** Whether what it would be made of was found to be wrong itself. */
export type PossibleRepair = { readonly repair: Repair; readonly isForbidden: boolean }

/** Hears what was compared, and what came of it. */
export type Tally = {
  compared(providerId: string, kind: ComparedKind, count?: number): void
  found(finding: Finding): void
  /** What would set right something that was found. */
  canRepair(repair: Repair): void
  /** What that would be made of is wrong itself. */
  mustNotRepair(repair: Repair): void
  /** Something of that kind could not be compared. */
  gaveUp(kind: ComparedKind, reason: string): void
}
