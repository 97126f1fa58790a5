export type RetrySchedule = {
  /** Seconds after the end of a failed attempt, for each of them in turn. After the last there is one more attempt. */
  readonly delaysSeconds: readonly number[]
  /** Of a delay: up to this share is added to it, so that what failed together is not tried together. */
  readonly jitterPercent: number
}

/** However long the delay: more would tell nothing apart that less does not. */
const jitterMsMax = 15 * 60_000

export function attemptsMax({ delaysSeconds }: RetrySchedule): number {
  return delaysSeconds.length + 1
}

/**
 * When the next attempt is due after the `attempts`th failed, at its end; undefined: there is none. A receiver that asks for
 * more time gets it, up to the delay after this one. `random` is from 0 up to 1.
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
  const askedMs = Math.min(retryAfterMs ?? 0, Math.max(longestMs, delayMs))
  return new Date(failedAt.getTime() + Math.max(delayMs + Math.floor(jitterMs), askedMs))
}

/** The header `Retry-After`, seconds or a date; undefined where it says nothing of use. */
export function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return ms > 0 ? ms : undefined
}
