export type RetrySchedule = {
  /** Seconds from the end of each failed attempt to the next attempt. With n delays there are n + 1 attempts. */
  readonly delaysSeconds: readonly number[]
  /** Maximum random addition to a delay, in percent of it, so that deliveries that failed together are not retried together. */
  readonly jitterPercent: number
}

/** Maximum jitter for any delay: 15 minutes already spread the retries far enough. */
const jitterMsMax = 15 * 60_000

export function attemptsMax({ delaysSeconds }: RetrySchedule): number {
  return delaysSeconds.length + 1
}

/**
 * Returns when the next attempt is due after attempt number `attempts` failed at `failedAt`, or undefined if no attempt remains.
 * `retryAfterMs` prolongs the delay, at most to the delay that follows this one. `random` is at least 0 and less than 1.
 */
export function nextAttemptAt(
  schedule: RetrySchedule,
  attempts: number,
  failedAt: Date,
  retryAfterMs: number | undefined,
  random: number,
): Date | undefined {
  const { delaysSeconds, jitterPercent } = schedule
  const delaySeconds = delaysSeconds[attempts - 1]
  if (delaySeconds === undefined) return undefined
  const delayMs = delaySeconds * 1_000
  const jitterMs = Math.min((delayMs * jitterPercent) / 100, jitterMsMax) * random
  const longestMs = (delaysSeconds[attempts] ?? delaySeconds) * 1_000
  const retryAfterDelayMs = Math.min(retryAfterMs ?? 0, Math.max(longestMs, delayMs))
  return new Date(failedAt.getTime() + Math.max(delayMs + Math.floor(jitterMs), retryAfterDelayMs))
}

/**
 * Parses a `Retry-After` header, which holds seconds or an HTTP date. Returns milliseconds, or undefined if it is absent, malformed
 * or in the past.
 */
export function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return ms > 0 ? ms : undefined
}
