const hourMs = 3_600_000
const secondMs = 1_000

export type RetryDelays = {
  /** Delays in hours: from each failed charge to the next attempt. */
  readonly hours: readonly number[]
  /**
   * Upper limit of the random delay that is added, in milliseconds. It spreads the attempts of charges that failed at
   * the same time.
   */
  readonly jitterMs: number
}

export type RetryDecision =
  | { readonly kind: 'retry'; readonly at: Date }
  /** All attempts are used up, or another attempt would be pointless. */
  | { readonly kind: 'give-up' }

/**
 * Decides what follows a failed charge. `failures` counts the failed charges so far, including this one. `isFinal`
 * means that another attempt would be pointless. `share` is the part of the jitter to add, from 0 up to but not
 * including 1.
 */
export function decideRetry(
  failures: number,
  isFinal: boolean,
  now: Date,
  { hours, jitterMs }: RetryDelays,
  share: number,
): RetryDecision {
  const delay = hours[failures - 1]
  if (isFinal || delay === undefined) return { kind: 'give-up' }
  const addedMs = Math.floor((jitterMs * share) / secondMs) * secondMs
  return { kind: 'retry', at: new Date(now.getTime() + delay * hourMs + addedMs) }
}
