import { correctionSource } from '@tollgate/schemas/correction-records'
import type { CorrectionRecord } from '@tollgate/schemas/http/usage-corrections'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** Returns the event with which a correction changes a record. */
export function correctionEvent(
  record: CorrectionRecord,
  providerId: string,
  receivedAtMs: number,
): MeterEvent {
  return {
    ...record,
    providerId,
    receivedAt: receivedAtMs,
    // Only records that count are corrected.
    outcome: 'success',
    source: correctionSource,
    reservationId: null,
    traceParent: null,
  }
}
