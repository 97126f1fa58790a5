import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceCalls } from '../services/service-calls.ts'
import type { Release } from './running-call.ts'

const firstPauseMs = 25

/**
 * Returns a function that releases a hold, and retries for up to `timeoutMs` if ingest does not answer or is busy. A release may be
 * repeated, because each call has its own hold. A hold that cannot be released expires by itself.
 *
 * The record of a failed call ends its hold too, but not if an earlier failure with the same key of the client is already recorded.
 */
export function createRelease(ingest: ServiceCalls, timeoutMs: number): Release {
  return async (holder, reservationId) => {
    const until = performance.now() + timeoutMs
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      const leftMs = Math.max(1, Math.ceil(until - performance.now()))
      const reply = await ingest.post('/v1/sdk/limits/release', holder, { reservationId }, leftMs)
      if (reply.kind === 'replied' && reply.status < 500) return
      if (performance.now() + pauseMs > until) return
      await sleep(pauseMs)
    }
  }
}
