import type { Entry, EntryAddress } from './hot-state.ts'
import type { SettledReservation } from './reservations.ts'

/** Returns the reservations that end when the document of the entry is published. */
export function endedWith(
  { subject, scope }: Pick<EntryAddress, 'subject' | 'scope'>,
  { endedReservations = [] }: Pick<Entry, 'endedReservations'>,
): SettledReservation[] {
  return endedReservations.map((reservationId) => {
    return { subject, scope, reservationId, isForgotten: true }
  })
}
