import { createHash } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventObject } from '@tollgate/schemas/event-types'
import { countsOf, type CountedUse, type MeterEvent } from '@tollgate/schemas/meter-event'
import { testClockUsageAheadMs } from '@tollgate/schemas/limits'
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
 * Returns the usage.recorded events of a record: one for each meter on which it counts. Their ids are derived from the record's id
 * and the meter, so the same record is the same events however often it is emitted.
 */
export function usageRecordedEvents(
  environment: Environment,
  event: MeterEvent,
  names: UsageNames,
): OutboxEvent[] {
  return countsOf(event).map((count, index) =>
    usageRecorded(environment, event, count, index, names),
  )
}

function usageRecorded(
  environment: Environment,
  event: MeterEvent,
  { meterName, value }: CountedUse,
  index: number,
  names: UsageNames,
): OutboxEvent {
  const object: EventObject<'usage.recorded'> = {
    reference: event.id,
    customer: names.customerRef ?? event.customerRef,
    product: event.productRef || null,
    purchase: event.purchaseRef || (names.purchaseRef ?? null),
    quantity: numberFromMicros(BigInt(value)),
    meterName,
    recordedAt: unixSeconds(new Date(event.timestamp)),
  }
  return {
    eventId: usageEventId(event, index === 0 ? '' : meterName),
    providerId: event.providerId,
    type: 'usage.recorded',
    livemode: environment === 'live',
    object,
    previousAttributes: null,
    // The log does not store the request id.
    requestId: null,
    idempotencyKey: event.idempotencyKey,
    createdAt: new Date(isOnClock(event) ? event.timestamp : event.receivedAt),
  }
}

/** Returns whether the usage is of a customer on a test clock, whose events have the time of the clock. */
function isOnClock({ timestamp, receivedAt }: MeterEvent): boolean {
  return timestamp > receivedAt + testClockUsageAheadMs
}

/** Starts with the time of receipt, which sorts the event among others. `meterName` is empty for the first count of a record. */
function usageEventId({ id, receivedAt }: MeterEvent, meterName: string): string {
  const name = meterName === '' ? id : `${id.length}:${id}${meterName}`
  const tail = createHash('sha256').update(name).digest()
  return timeOrderedReference(referencePrefixes.webhookEvent, receivedAt, tail)
}
