import { createHash } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventObject } from '@tollgate/schemas/event-types'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { referencePrefixes } from '@tollgate/schemas/references'
import { timeOrderedReference } from '@tollgate/schemas/usage-reference'
import type { OutboxEvent } from '../outbox/outbox-event.ts'
import { unixSeconds } from '../outbox/unix-seconds.ts'

/** Whose usage a record is, as far as anybody knows. */
export type UsageNames = {
  /** The customer's own reference; undefined: nobody is known by the name that the record has. */
  readonly customerRef: string | undefined
  /** What the customer held of the product when it was used. */
  readonly purchaseRef: string | undefined
}

/**
 * usage.recorded of a record. Its id is made of the record's, so that the same record is the same event whoever
 * tells of it, and however often.
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
    // The log does not keep which request it was.
    requestId: null,
    idempotencyKey: event.idempotencyKey,
    createdAt: new Date(event.receivedAt),
  }
}

/** Behind the time of receipt, which sorts it among other events. */
function usageEventId({ id, receivedAt }: MeterEvent): string {
  const tail = createHash('sha256').update(id).digest()
  return timeOrderedReference(referencePrefixes.webhookEvent, receivedAt, tail)
}
