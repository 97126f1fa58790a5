import { setTimeout as sleep } from 'node:timers/promises'
import { UnexpectedAnswerError } from './tollgate-client.ts'

export type RetryLimits = {
  /** Give up this long after the first attempt. */
  readonly patienceMs: number
  readonly delayMinMs: number
  readonly delayMaxMs: number
}

export const patientRetries: RetryLimits = { patienceMs: 120_000, delayMinMs: 20, delayMaxMs: 500 }

/**
 * What a careful client does: the same records under the same idempotency keys again until there is an answer. No
 * answer, or a 502 to 504, says nothing about whether the first attempt was kept; the keys make asking again
 * harmless. Any other refusal is final.
 */
export async function recordWithRetries<Body, Answer>(
  record: (body: Body) => Promise<Answer>,
  body: Body,
  limits: RetryLimits,
  onRetry: () => void = () => undefined,
): Promise<Answer> {
  const deadline = Date.now() + limits.patienceMs
  for (let delayMs = limits.delayMinMs; ; delayMs = Math.min(delayMs * 2, limits.delayMaxMs)) {
    try {
      return await record(body)
    } catch (error) {
      const isFinal = error instanceof UnexpectedAnswerError && error.status < 502
      if (isFinal || Date.now() > deadline) throw error
      onRetry()
      await sleep(delayMs)
    }
  }
}
