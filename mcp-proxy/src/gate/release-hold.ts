import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceCalls } from '../services/service-calls.ts'
import type { AskLimits } from './ask-limits.ts'
import type { GatedCall } from './gate.ts'
import type { Release } from './running-call.ts'

const firstPauseMs = 25

/** Seconds for which a repeated request for a hold may hold a unit, if ingest did not execute the first one. */
const repeatedHoldSeconds = 1

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

/** Releases the hold that a call may have although its request for it was not answered. Resolves when it is released, or given up. */
export type ReleaseUnanswered = (call: HoldingCall) => Promise<void>

type HoldingCall = Pick<GatedCall, 'server' | 'customerRef' | 'callId'>

/**
 * Releases the hold of a call whose request for it was not answered. Ingest may have granted it, and nothing else would end it before
 * it expires, because the call was not admitted and has no record.
 *
 * The call id is the idempotency key of the hold, so the repeated request returns the hold if there is one. If there is none, it
 * takes one for a moment. Gives up after `timeoutMs`, and then the hold expires by itself.
 */
export async function releaseUnanswered(
  parts: { readonly askLimits: AskLimits; readonly release: Release },
  call: HoldingCall,
  timeoutMs: number,
): Promise<void> {
  const until = performance.now() + timeoutMs
  for (let pauseMs = firstPauseMs; performance.now() + pauseMs <= until; pauseMs *= 2) {
    await sleep(pauseMs)
    const answer = await parts.askLimits(call, repeatedHoldSeconds)
    if (answer.kind === 'unknown') continue
    const reservationId = answer.kind === 'answered' ? answer.response.reservation?.id : undefined
    if (reservationId !== undefined) await parts.release(call.server, reservationId)
    return
  }
}
