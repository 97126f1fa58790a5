import type { Environment } from '@tollgate/schemas/environment'
import type { EventObject } from '@tollgate/schemas/event-types'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { referencePrefixes } from '@tollgate/schemas/references'
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
 * usage.recorded of a record. Its id is the record's in other words, so that the same record is the same event whoever
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
    eventId: usageEventId(event.id),
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

function usageEventId(usageRef: string): string {
  return (
    referencePrefixes.webhookEvent + usageRef.slice(referencePrefixes.usage.length).toUpperCase()
  )
}
