const hourMs = 3_600_000

/** How long after each failed charge the next one is tried. */
export type RetryDelays = { readonly hours: readonly number[] }

export type RetryDecision =
  | { readonly kind: 'retry'; readonly at: Date }
  /** All tries are spent, or there is no point in another. */
  | { readonly kind: 'give-up' }

/** What follows the charge that failed as number `failures`, counted from 1. */
export function decideRetry(
  failures: number,
  isFinal: boolean,
  now: Date,
  { hours }: RetryDelays,
): RetryDecision {
  const delay = hours[failures - 1]
  if (isFinal || delay === undefined) return { kind: 'give-up' }
  return { kind: 'retry', at: new Date(now.getTime() + delay * hourMs) }
}
