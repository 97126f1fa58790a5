import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { placeOfReservation } from '@tollgate/schemas/reservation-reference'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { EventRecord } from './decoded-batch.ts'
import { decideVerdict } from './verdict.ts'

/**
 * The reservations that a batch uses up, by the partition they are kept in. That is not always the partition of the
 * event, which the client's own text decides: a customer may be known by several references.
 *
 * A call that failed has used its reservation too. A duplicate ends none: what it repeats has. Credits that were held
 * for a record end with it as well.
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
 * The credits that a reservation holds beside its units. Mostly the debit of the usage has replaced them, or the plan is
 * paid for otherwise; then nothing is held. The place of the units remembers the reservation.
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
 * The credits that were held for the record until it is counted, in its own partition. Also those of a duplicate: two
 * processes may have held them before one of them could see the other's record. Nobody asks for them again, as the
 * record's id is known by its mark.
 */
function heldCredits({ id, providerId, customerRef }: MeterEvent): SettledReservation {
  const subject = walletSubject(providerId, customerRef)
  return { subject, scope: walletScope, reservationId: id, isForgotten: true }
}
