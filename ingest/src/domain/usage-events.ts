import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { faultOfTimestamp } from '@tollgate/schemas/http/timestamp-window'
import type { UsageInput } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { keyedUsageReference } from '@tollgate/schemas/usage-reference'
import type { KeyHolder } from './key-holder.ts'

/** What an event gets from its request rather than from its body. */
export type Receipt = {
  readonly holder: KeyHolder
  readonly receivedAtMs: number
  /** A new reference at every call. */
  readonly randomReference: (nowMs: number) => string
}

/** The event of one usage call, or what is wrong with it; the issue's path begins at the input. */
export function usageEvent(input: UsageInput, receipt: Receipt): MeterEvent | ValidationIssue {
  const { holder, receivedAtMs } = receipt
  const timestamp = input.timestamp === undefined ? receivedAtMs : Date.parse(input.timestamp)
  const fault = faultOfTimestamp(timestamp, receivedAtMs)
  if (fault !== undefined) return fault
  const idempotencyKey = textOrNull(input.idempotencyKey)
  return {
    id: referenceOf(receipt, input.customerRef, idempotencyKey),
    providerId: holder.providerId,
    customerRef: input.customerRef,
    meterName: requestsMeterName,
    value: input.units * microsPerUnit,
    timestamp,
    receivedAt: receivedAtMs,
    productRef: textOrNull(input.productRef),
    purchaseRef: textOrNull(input.purchaseRef),
    outcome: input.outcome,
    source: 'usages',
    idempotencyKey,
    properties: propertiesOf(input),
    reservationId: textOrNull(input.reservationId),
    traceParent: null,
    debit: null,
  }
}

/** A repeated key of a customer gives the same reference, whether it comes with usage or with a meter event. */
export function referenceOf(
  { holder, receivedAtMs, randomReference }: Receipt,
  customerRef: string,
  idempotencyKey: string | null,
): string {
  if (idempotencyKey === null) return randomReference(receivedAtMs)
  return keyedUsageReference(holder.environment, holder.providerId, customerRef, idempotencyKey)
}

/**
 * What the wire contract stores beside the value; members that were not given are left out. Written out by hand, which
 * halves a cost that every usage call has; outcome and action type are of fixed lists that need no escaping.
 */
function propertiesOf(input: UsageInput): string {
  return (
    `{"outcome":"${input.outcome}","actionType":"${input.actionType}"` +
    member('productRef', input.productRef) +
    member('purchaseRef', input.purchaseRef) +
    member('description', input.description) +
    member('errorMessage', input.errorMessage) +
    member('duration', input.duration) +
    member('metadata', input.metadata) +
    '}'
  )
}

function member(name: string, value: unknown): string {
  return value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`
}

/** An empty reference says the same as none. */
export function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
