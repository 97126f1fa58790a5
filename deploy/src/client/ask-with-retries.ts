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
 * Sends a request again until it is answered, as a careful client does. No answer, or a 502 to 504, says nothing about
 * whether the first attempt was kept, so the request must be safe to repeat: under an idempotency key, for instance. Any
 * other refusal is final.
 */
export async function askWithRetries<Answer>(
  ask: () => Promise<Answer>,
  limits: RetryLimits = patientRetries,
  onRetry: () => void = () => undefined,
): Promise<Answer> {
  const deadline = Date.now() + limits.patienceMs
  for (let delayMs = limits.delayMinMs; ; delayMs = Math.min(delayMs * 2, limits.delayMaxMs)) {
    try {
      return await ask()
    } catch (error) {
      const isFinal = error instanceof UnexpectedAnswerError && error.status < 502
      if (isFinal || Date.now() > deadline) throw error
      onRetry()
      await sleep(delayMs)
    }
  }
}
