const hourMs = 3_600_000
const secondMs = 1_000

export type RetryDelays = {
  /** How long after each failed charge the next one is tried. */
  readonly hours: readonly number[]
  /** What is added to each of them at most, so that what failed together is not tried together. */
  readonly jitterMs: number
}

export type RetryDecision =
  | { readonly kind: 'retry'; readonly at: Date }
  /** All tries are spent, or there is no point in another. */
  | { readonly kind: 'give-up' }

/** What follows the charge that failed as number `failures`, counted from 1. `share` of the jitter: from 0 up to 1. */
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
