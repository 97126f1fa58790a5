import type { Environment } from '@tollgate/schemas/environment'
import type { UsageInput } from '@tollgate/schemas/http/usages'
import type { Outcome } from '@tollgate/schemas/meter-event'

/** The record of one tool call: everything that ingest needs to count it. */
export type CallRecord = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  readonly toolName: string
  readonly callId: string
  /** Ingest counts one record per key and customer, even if the record is delivered more than once. */
  readonly idempotencyKey: string
  readonly outcome: Outcome
  readonly durationMs: number
  /** Time at which the call was accepted, in Unix milliseconds. It decides the billing period. */
  readonly acceptedAtMs: number
  /** The hold of the call. Ingest ends the hold when it accepts the record. */
  readonly reservationId?: string
  /** Reason of a failure, shown to the provider. */
  readonly reason?: string
  /** 0 for a repeated call that is free. If absent, the call counts 1 unit. */
  readonly units?: 0
  /**
   * Number of this use of a client's key, counted from 0. Absent if the record has no client key, or if its number can no longer
   * change.
   */
  readonly use?: { readonly key: string; readonly number: number }
}

/** Returns the record without the number of its use, so that its key no longer changes. Ingest may already have the record. */
export function settledUse({ use: _use, ...record }: CallRecord): CallRecord {
  return record
}

/**
 * MCP allows names of 128 characters, so no origin has a tool with a longer name. Longer names are cut, because ingest would refuse
 * the record.
 */
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

/** Returns text that every store accepts: without lone surrogates and without U+0000. */
export function storable(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed().replaceAll('\0', '\u{FFFD}')
}
