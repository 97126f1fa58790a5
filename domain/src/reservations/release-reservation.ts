import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { placeOfReservation } from '@tollgate/schemas/reservation-reference'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'

export type ReleaseParts = {
  readonly hotState: Pick<HotState, 'releaseReservation'>
  readonly partitionCount: (environment: Environment) => number
}

/**
 * Releases the units and the credits that a reservation of this provider holds. Returns false if it holds nothing or does not
 * exist.
 */
export async function releaseReservation(
  { hotState, partitionCount }: ReleaseParts,
  environment: Environment,
  providerId: string,
  reservationId: string,
): Promise<boolean> {
  const place = placeOfReservation(reservationId)
  if (place === undefined) return false
  const subject = subjectKey(providerId, place.customerRef)
  const partition = partitionOf(subject, partitionCount(environment))
  const at = { space: environment, partition, subject, scope: place.productRef }
  const wallet = { subject: walletSubject(providerId, place.customerRef), scope: walletScope }
  return await hotState.releaseReservation(at, reservationId, wallet)
}
