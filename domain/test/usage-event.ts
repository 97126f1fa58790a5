import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'

/** More bytes than any event of these tests needs. */
const bytesMax = 2_000

/** Returns a usage event of 1 unit like ingest records it, with the given fields. */
export function usageEvent(fields: Partial<MeterEvent>): MeterEvent {
  return {
    id: 'usage_none',
    providerId: 'prv_A',
    customerRef: 'customer-0',
    meterName: 'requests',
    value: 1_000_000,
    timestamp: 0,
    receivedAt: 0,
    productRef: 'prd_A',
    purchaseRef: null,
    outcome: 'success',
    source: 'usages',
    idempotencyKey: null,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
    ...fields,
  }
}

/** Returns the event as it is stored in a log record. */
export function encoded(event: MeterEvent): Buffer {
  const buffer = Buffer.alloc(bytesMax)
  return buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
}
