import { createHash } from 'node:crypto'
import { storable, toolNameCharsMax, type CallRecord } from '../records/call-record.ts'
import type { CallEnd, GatedCall } from './gate.ts'
import type { CancelledCalls } from '@tollgate/schemas/http/mcp'
import type { GateLimits } from './gate-settings.ts'

export type RecordedEnd = Pick<CallRecord, 'outcome' | 'durationMs'> & { readonly reason?: string }

export function recordOf(
  call: GatedCall,
  acceptedAtMs: number,
  end: RecordedEnd,
  reservationId: string | undefined,
  clientKeys: GateLimits['clientKeys'],
): CallRecord {
  const { environment, providerId, productRef } = call.server
  const { customerRef, callId } = call
  // The client may have sent a name of several megabytes, and the journal reserved less room for the record.
  const toolName = storable(call.toolName, toolNameCharsMax)
  return {
    ...{ environment, providerId, customerRef, productRef, toolName, callId },
    idempotencyKey: keyOf(call, end.outcome, clientKeys),
    outcome: end.outcome,
    durationMs: end.durationMs,
    acceptedAtMs,
    ...(reservationId === undefined ? {} : { reservationId }),
    ...(end.reason === undefined ? {} : { reason: end.reason }),
  }
}

/**
 * Returns the idempotency key of the record. Calls with the same client key share it only if the MCP server receives the same and
 * the outcome is the same. A retry that succeeds after a failure therefore has its own key, otherwise the failure would make it
 * free.
 */
function keyOf(
  { customerRef, toolName, callId, clientKey, server }: GatedCall,
  outcome: CallRecord['outcome'],
  clientKeys: GateLimits['clientKeys'],
): string {
  if (clientKey === undefined || clientKeys === 'ignore') {
    return outcome === 'success' ? callId : `${callId}-${outcome}`
  }
  const digest = createHash('sha256')
  const { name, sentSha256 } = clientKey
  const named = [server.productRef, customerRef, toolName, name, outcome, sentSha256]
  digest.update(JSON.stringify(named))
  return `mcp-${digest.digest('hex')}`
}

/** Returns the recorded end of a call. The policy decides about calls that the client cancelled. */
export function endOf(end: CallEnd, policy: CancelledCalls): RecordedEnd {
  const { durationMs, isCancelled = false } = end
  if (!isCancelled) {
    const { reason } = end
    const outcome = end.outcome === 'success' ? 'success' : 'fail'
    return reason === undefined ? { outcome, durationMs } : { outcome, durationMs, reason }
  }
  const outcome = isBilled(end, policy) ? 'success' : 'fail'
  return { outcome, durationMs, reason: 'cancelled by the client' }
}

function isBilled({ isAccepted, isAnswered }: CallEnd, policy: CancelledCalls): boolean {
  switch (policy) {
    case 'never':
      return false
    case 'answered':
      return isAnswered === true
    case 'accepted':
      return isAccepted === true || isAnswered === true
    case 'always':
      return true
  }
}
