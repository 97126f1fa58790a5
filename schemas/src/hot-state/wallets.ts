import { subjectKey } from '../subject.ts'

/*
 * A customer's wallet as the data plane sees it. All of it is in the log partition of the customer's own reference:
 * what was put in is said by the entry's document, what was taken is counted in its one window, and what is about to
 * be taken is reserved there.
 */

/** The document of the entry. Absent: nothing was ever put in. */
export type PublishedWallet = {
  /** All that was ever put in, less what was taken out otherwise than by usage: 10^-6 credits as decimal text. */
  readonly grantedMicros: string
  /** All that was ever taken out so, in the same way; absent: nothing. */
  readonly removedMicros?: string
  /** With less than that the customer's auto-recharge may buy more, 10^-6 credits as decimal text; absent: none is active. */
  readonly rechargeBelowMicros?: string
}

/** No subject of usage begins with a letter. */
export function walletSubject(providerId: string, customerRef: string): string {
  return `wallet:${subjectKey(providerId, customerRef)}`
}

/** There is one. */
export const walletScope = 'credits'

/** What is counted there: 10^-6 credits. */
export const walletSeries = 'debits'

/** A wallet knows no periods. */
export const walletWindow = {
  id: 'all',
  fromSecond: 0,
  toSecond: Date.UTC(9999, 11, 31) / 1000,
} as const
