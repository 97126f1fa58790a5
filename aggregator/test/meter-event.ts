import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'

/** Returns a valid event with these fields and defaults for all others. */
export function meterEvent(fields: Partial<MeterEvent>): MeterEvent {
  return {
    id: 'usage_0000000000000000000000000A',
    providerId: 'prov_1',
    customerRef: 'cus_1',
    meterName: 'requests',
    value: 1_000_000,
    timestamp: 1_772_366_400_000,
    receivedAt: 1_772_366_400_500,
    productRef: null,
    purchaseRef: null,
    outcome: 'success',
    source: 'meter-events',
    idempotencyKey: null,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
    ...fields,
  }
}

const buffer = Buffer.alloc(1 << 20)

export function encoded(event: MeterEvent): Uint8Array {
  const end = encodeMeterEvent(event, buffer, 0)
  return new Uint8Array(buffer.subarray(0, end))
}
