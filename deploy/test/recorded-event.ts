import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'

type Named = Pick<
  MeterEvent,
  | 'id'
  | 'providerId'
  | 'customerRef'
  | 'meterName'
  | 'value'
  | 'timestamp'
  | 'receivedAt'
  | 'productRef'
>

/** Returns a meter event as ingest writes it for a successful call without options. `debit` is in credits, if a wallet paid. */
export function recordedEvent(named: Named, debit: MeterEvent['debit'] = null): MeterEvent {
  return {
    ...named,
    purchaseRef: null,
    outcome: 'success',
    source: 'usages',
    idempotencyKey: null,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit,
    ...withoutCounts,
  }
}
