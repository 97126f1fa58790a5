import { limitsResponseSchema, type LimitsResponse } from '@tollgate/schemas/http/limits'
import type { GatedCall } from './gate.ts'
import { messageOf, type ServiceCalls } from '../services/service-calls.ts'

export type LimitsAnswer =
  | { readonly kind: 'answered'; readonly response: LimitsResponse }
  /** Ingest gave no answer (`isAway`), is busy, or refuses the key of this service. */
  | {
      readonly kind: 'unknown'
      readonly reason: string
      readonly isBusy?: true
      readonly isAway?: true
    }
  /** The customer or the product does not exist. */
  | { readonly kind: 'refused'; readonly reason: string }

export type AskLimits = (
  call: Pick<GatedCall, 'server' | 'customerRef' | 'callId'>,
  holdSeconds?: number,
) => Promise<LimitsAnswer>

/**
 * Returns a function that queries ingest for a customer's limits. With `holdSeconds`, the query also requests a hold of 1 unit for
 * that time. A call has at most one hold, however often the query is repeated, because its call id is the idempotency key.
 */
export function createAskLimits(ingest: ServiceCalls, timeoutMs: number): AskLimits {
  return async ({ server, customerRef, callId }, holdSeconds) => {
    const { productRef } = server
    const reserve =
      holdSeconds === undefined
        ? {}
        : { reserve: { units: 1, ttlSeconds: holdSeconds }, idempotencyKey: callId }
    const body = { customerRef, productRef, ...reserve }
    const reply = await ingest.post('/v1/sdk/limits', server, body, timeoutMs)
    if (reply.kind === 'failed') return { kind: 'unknown', reason: reply.message, isAway: true }
    const isUnknownName = reply.status === 404 || reply.status === 400
    if (isUnknownName) return { kind: 'refused', reason: messageOf(reply) }
    const parsed = limitsResponseSchema.safeParse(reply.body)
    if (reply.status !== 200 || !parsed.success) {
      const reason = messageOf(reply)
      return { kind: 'unknown', reason, ...(reply.status === 503 && { isBusy: true }) }
    }
    return { kind: 'answered', response: parsed.data }
  }
}
