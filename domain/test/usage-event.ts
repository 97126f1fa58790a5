import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'

/** More than any event of these tests takes. */
const bytesMax = 2_000

/** One unit that a customer used, as ingest records it; the test names what it is about. */
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
    ...fields,
  }
}

/** The event as a record of the log holds it. */
export function encoded(event: MeterEvent): Buffer {
  const buffer = Buffer.alloc(bytesMax)
  return buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
}
