import type { Environment } from '@tollgate/schemas/environment'
import type { UsageInput } from '@tollgate/schemas/http/usages'
import type { Outcome } from '@tollgate/schemas/meter-event'

/** What is recorded of one call of a tool: all that ingest needs to count it, and for whom. */
export type CallRecord = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  readonly toolName: string
  readonly callId: string
  /** Ingest counts one record per key and customer, however often this one is delivered. */
  readonly idempotencyKey: string
  readonly outcome: Outcome
  readonly durationMs: number
  /** When the call was accepted, Unix milliseconds. It decides the billing period. */
  readonly acceptedAtMs: number
  /** The hold of the call, which ends with the record. */
  readonly reservationId?: string
  /** Why it failed, for the provider. */
  readonly reason?: string
  /** 0: a repeat of a call that costs nothing. Otherwise the call counts one unit. */
  readonly units?: 0
  /** Which use of a client's key the call is, counted from 0, unless that is settled. */
  readonly use?: { readonly key: string; readonly number: number }
}

/** Returns the record without its place among the uses of a key: ingest may have it already, from this process or another. */
export function settledUse({ use: _use, ...record }: CallRecord): CallRecord {
  return record
}

/** Longer names are no tools of any origin: MCP allows 128 characters. They must not make ingest refuse the record. */
export const toolNameCharsMax = 128
const reasonCharsMax = 512

export function usageOf(record: CallRecord): UsageInput {
  const { reservationId, reason } = record
  return {
    customerRef: record.customerRef,
    productRef: record.productRef,
    actionType: 'api_call',
    units: record.units ?? 1,
    outcome: record.outcome,
    duration: record.durationMs,
    timestamp: new Date(record.acceptedAtMs).toISOString(),
    idempotencyKey: record.idempotencyKey,
    ...(reservationId === undefined ? {} : { reservationId }),
    ...(reason === undefined ? {} : { errorMessage: storable(reason, reasonCharsMax) }),
    metadata: {
      action: 'requests',
      toolName: storable(record.toolName, toolNameCharsMax),
      requestId: record.callId,
      ...(reason === undefined ? {} : { reason: storable(reason, reasonCharsMax) }),
    },
  }
}

/** Text that every store takes: no lone surrogates, no U+0000. */
export function storable(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed().replaceAll('\0', '\u{FFFD}')
}
