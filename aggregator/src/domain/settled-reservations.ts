import type { SettledReservation, UsedPart } from '@tollgate/platform/hot-state/reservations'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { placeOfReservation, reservationUse } from '@tollgate/schemas/reservation-reference'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { countsOf, type MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { EventRecord } from './decoded-batch.ts'
import { decideVerdict } from './verdict.ts'

/**
 * Returns the reservations that a batch ends, by the partition that holds them. It can differ from the partition of the event,
 * which depends on the client's text: a customer may have several references.
 *
 * A failed call ends its reservation too. A call that is not the last one of its reservation only reduces it by what was counted. A
 * duplicate ends none, because the record that it repeats has ended it. The credits that
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
    if (event.debit !== null) settle(partition, heldCredits(event))
    if (event.reservationId === null) continue
    const { reservationId, isFinal } = reservationUse(event.reservationId)
    const place = placeOfReservation(reservationId)
    if (place === undefined) continue
    const first = event.idempotencyKey === null ? undefined : firstOffsets.get(event.id)
    const verdict = decideVerdict(offset, event, first)
    if (verdict.kind === 'duplicate') continue
    const subject = subjectKey(event.providerId, place.customerRef)
    const keptIn = partitionOf(subject, partitionCount)
    const reserved = { subject, scope: place.productRef, reservationId }
    if (!isFinal) {
      if (verdict.kind === 'counted')
        settle(keptIn, { ...reserved, part: usedPart(event, offset, place.customerRef) })
      continue
    }
    settle(keptIn, reserved)
    settle(keptIn, reservedCredits(event.providerId, place.customerRef, reservationId))
  }
  return settled
}

/**
 * Returns what an event uses of a reservation. Plans without charges hold units of `requests`, whatever the series. The credits were
 * subtracted with the debit; if no units are left, the rest of them is released.
 */
function usedPart(event: MeterEvent, offset: number, customerRef: string): UsedPart {
  const bySeries = new Map<string, bigint>()
  for (const { meterName, value } of countsOf(event)) {
    bySeries.set(meterName, (bySeries.get(meterName) ?? 0n) + BigInt(value))
  }
  const together = { subject: walletSubject(event.providerId, customerRef), scope: walletScope }
  return { onEvery: bySeries.get(requestsMeterName) ?? 0n, bySeries, offset, together }
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
