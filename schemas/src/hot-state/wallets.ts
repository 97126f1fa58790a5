import { subjectKey } from '../subject.ts'

/*
 * A customer's wallet in the data plane. It is stored in the log partition of the customer's own reference. The entry's document
 * has the granted credits, its only window counts the debits, and holds are reservations in the entry.
 */

/** The document of the entry. Absent if the customer never received credits. */
export type PublishedWallet = {
  /** All credits ever granted, less all credits removed other than by usage, in 10^-6 credits as decimal text. */
  readonly grantedMicros: string
  /** All credits ever removed other than by usage, in 10^-6 credits as decimal text. Absent means none. */
  readonly removedMicros?: string
  /** Below this balance, the customer's auto-recharge may buy credits. 10^-6 credits as decimal text. Absent if none is active. */
  readonly rechargeBelowMicros?: string
}

/** Returns the subject of a wallet. Subjects of usage start with a digit, so the two never collide. */
export function walletSubject(providerId: string, customerRef: string): string {
  return `wallet:${subjectKey(providerId, customerRef)}`
}

/** A wallet has only this scope. */
export const walletScope = 'credits'

/** The series counts 10^-6 credits. */
export const walletSeries = 'debits'

/** A wallet has no periods, so its window covers all time. */
export const walletWindow = {
  id: 'all',
  fromSecond: 0,
  toSecond: Date.UTC(9999, 11, 31) / 1000,
} as const
