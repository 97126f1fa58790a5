import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { placeOfReservation } from '@tollgate/schemas/reservation-reference'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { EventRecord } from './decoded-batch.ts'
import { decideVerdict } from './verdict.ts'

/**
 * The reservations that a batch uses up, by the partition they are kept in. That is not always the partition of the
 * event, which the client's own text decides: a customer may be known by several references.
 *
 * A call that failed has used its reservation too. A duplicate ends none: what it repeats has.
 */
export function settledReservations(
  events: readonly EventRecord[],
  firstOffsets: ReadonlyMap<string, number>,
  partitionCount: number,
): Map<number, SettledReservation[]> {
  const settled = new Map<number, SettledReservation[]>()
  for (const { offset, event } of events) {
    const { reservationId } = event
    const place = reservationId === null ? undefined : placeOfReservation(reservationId)
    if (reservationId === null || place === undefined) continue
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    if (decideVerdict(offset, event, first).kind === 'duplicate') continue
    const subject = subjectKey(event.providerId, place.customerRef)
    const partition = partitionOf(subject, partitionCount)
    let ofPartition = settled.get(partition)
    if (ofPartition === undefined) settled.set(partition, (ofPartition = []))
    ofPartition.push({ subject, scope: place.productRef, reservationId })
  }
  return settled
}
