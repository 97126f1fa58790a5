import { setTimeout as sleep } from 'node:timers/promises'
import { UnexpectedResponseError } from './tollgate-client.ts'

export type RetryLimits = {
  /** Milliseconds after the first attempt when retries end. */
  readonly patienceMs: number
  readonly delayMinMs: number
  readonly delayMaxMs: number
}

export const defaultRetries: RetryLimits = { patienceMs: 120_000, delayMinMs: 20, delayMaxMs: 500 }

/**
 * Sends a request repeatedly until it is answered. After no answer, or after 502 to 504, the first attempt may have been executed,
 * so the request must be safe to repeat, for example by an idempotency key. Any other error status is final and is thrown.
 */
export async function requestWithRetries<Answer>(
  ask: () => Promise<Answer>,
  limits: RetryLimits = defaultRetries,
  onRetry: () => void = () => undefined,
): Promise<Answer> {
  const deadline = Date.now() + limits.patienceMs
  for (let delayMs = limits.delayMinMs; ; delayMs = Math.min(delayMs * 2, limits.delayMaxMs)) {
    try {
      return await ask()
    } catch (error) {
      const isFinal = error instanceof UnexpectedResponseError && error.status < 502
      if (isFinal || Date.now() > deadline) throw error
      onRetry()
      await sleep(delayMs)
    }
  }
}
