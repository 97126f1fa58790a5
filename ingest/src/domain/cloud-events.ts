import { hash } from 'node:crypto'
import type { CloudEventInput } from '@tollgate/schemas/http/cloud-events'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { referenceCharsMax } from '@tollgate/schemas/limits'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { reservationUseText } from '@tollgate/schemas/reservation-reference'
import { referenceOf, textOrNull, timestampOf, withMatches, type Receipt } from './usage-events.ts'

/**
 * Returns the record of one CloudEvent, or the validation issue of its input. It names no meter: everything that it counts is found
 * by the meters that read events of its type.
 */
export function cloudEvent(input: CloudEventInput, receipt: Receipt): MeterEvent | ValidationIssue {
  const { holder, receivedAtMs, matcher } = receipt
  const { subject: customerRef, type, data } = input
  const timestamp = timestampOf(receipt, customerRef, input.time)
  if (typeof timestamp !== 'number') return { ...timestamp, path: ['time'] }
  const idempotencyKey = keyOfEvent(input.source, input.id)
  const event: MeterEvent = {
    id: referenceOf(receipt, customerRef, idempotencyKey),
    providerId: holder.providerId,
    customerRef,
    meterName: '',
    value: 0,
    timestamp,
    receivedAt: receivedAtMs,
    productRef: textOrNull(input.productref),
    purchaseRef: textOrNull(input.purchaseref),
    outcome: input.outcome,
    source: 'events',
    idempotencyKey,
    properties: data === undefined ? '{}' : JSON.stringify(data),
    reservationId: reservationUseText(input.reservationid, input.reservationfinal),
    traceParent: null,
    debit: null,
    ...withoutCounts,
    eventType: type,
  }
  if (matcher === undefined || !matcher.reads(type)) return event
  return withMatches(event, type, data ?? {}, ['data'], matcher, microsPerUnit)
}

/**
 * Returns the idempotency key of an event. A length in front keeps the parts apart, whatever they contain. A key that would be too
 * long is hashed; its beginning differs from those of keys that are not.
 */
function keyOfEvent(source: string, id: string): string {
  const key = `ce:${source.length}:${source}${id}`
  return key.length <= referenceCharsMax ? key : `ce:sha256:${hash('sha256', key)}`
}
