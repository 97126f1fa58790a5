import { createHash } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventObject } from '@tollgate/schemas/event-types'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { referencePrefixes } from '@tollgate/schemas/references'
import { timeOrderedReference } from '@tollgate/schemas/usage-reference'
import type { OutboxEvent } from '../outbox/outbox-event.ts'
import { unixSeconds } from '../periods/periods.ts'

/** Customer and purchase of a usage record, as far as they are known. */
export type UsageNames = {
  /** The customer's own reference; undefined if no customer has the reference of the record. */
  readonly customerRef: string | undefined
  /** The customer's purchase of the product at the time of the usage; undefined if there was none. */
  readonly purchaseRef: string | undefined
}

/**
 * Returns the usage.recorded event of a record. Its id is derived from the record's id, so the same record is the same event
 * however often it is emitted.
 */
export function usageRecordedEvent(
  environment: Environment,
  event: MeterEvent,
  names: UsageNames,
): OutboxEvent {
  const object: EventObject<'usage.recorded'> = {
    reference: event.id,
    customer: names.customerRef ?? event.customerRef,
    product: event.productRef || null,
    purchase: event.purchaseRef || (names.purchaseRef ?? null),
    quantity: numberFromMicros(BigInt(event.value)),
    meterName: event.meterName,
    recordedAt: unixSeconds(new Date(event.timestamp)),
  }
  return {
    eventId: usageEventId(event),
    providerId: event.providerId,
    type: 'usage.recorded',
    livemode: environment === 'live',
    object,
    previousAttributes: null,
    // The log does not store the request id.
    requestId: null,
    idempotencyKey: event.idempotencyKey,
    createdAt: new Date(event.receivedAt),
  }
}

/** Starts with the time of receipt, which sorts the event among others. */
function usageEventId({ id, receivedAt }: MeterEvent): string {
  const tail = createHash('sha256').update(id).digest()
  return timeOrderedReference(referencePrefixes.webhookEvent, receivedAt, tail)
}
