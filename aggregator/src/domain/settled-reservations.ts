import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { placeOfReservation } from '@tollgate/schemas/reservation-reference'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { EventRecord } from './decoded-batch.ts'
import { decideVerdict } from './verdict.ts'

/**
 * Returns the reservations that a batch ends, by the partition that holds them. It can differ from the partition of the event,
 * which depends on the client's text: a customer may have several references.
 *
 * A failed call ends its reservation too. A duplicate ends none, because the record that it repeats has ended it. The credits that
 * are on hold for a record are released with it as well.
 */
export function settledReservations(
  events: readonly EventRecord[],
  firstOffsets: ReadonlyMap<string, number>,
  partition: number,
  partitionCount: number,
): Map<number, SettledReservation[]> {
  const settled = new Map<number, SettledReservation[]>()
  const settle = (keptIn: number, reservation: SettledReservation): void => {
    const ofPartition = settled.get(keptIn)
    if (ofPartition === undefined) settled.set(keptIn, [reservation])
    else ofPartition.push(reservation)
  }
  for (const { offset, event } of events) {
    const { reservationId } = event
    if (event.debit !== null) settle(partition, heldCredits(event))
    const place = reservationId === null ? undefined : placeOfReservation(reservationId)
    if (reservationId === null || place === undefined) continue
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    if (decideVerdict(offset, event, first).kind === 'duplicate') continue
    const subject = subjectKey(event.providerId, place.customerRef)
    const keptIn = partitionOf(subject, partitionCount)
    settle(keptIn, { subject, scope: place.productRef, reservationId })
    settle(keptIn, reservedCredits(event.providerId, place.customerRef, reservationId))
  }
  return settled
}

/**
 * Returns the credits that a reservation holds beside its units. In most cases the debit of the usage has replaced them, or no
 * wallet pays, and nothing is on hold. The reservation itself is remembered with the units.
 */
function reservedCredits(
  providerId: string,
  customerRef: string,
  reservationId: string,
): SettledReservation {
  const subject = walletSubject(providerId, customerRef)
  return { subject, scope: walletScope, reservationId, isForgotten: true }
}

/**
 * Returns the credits that are on hold for the record, in its own partition, until it is counted. This includes duplicates: two
 * processes may have held credits before one of them could see the other's record. They are not held again, because the mark makes
 * the record's id known.
 */
function heldCredits({ id, providerId, customerRef }: MeterEvent): SettledReservation {
  const subject = walletSubject(providerId, customerRef)
  return { subject, scope: walletScope, reservationId: id, isForgotten: true }
}
