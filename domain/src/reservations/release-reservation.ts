import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type {
  ExtendOutcome,
  PlaceName,
  ReservationAddress,
} from '@tollgate/platform/hot-state/reservations'
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
  const places = placesOf(partitionCount, environment, providerId, reservationId)
  if (places === undefined) return false
  return await hotState.releaseReservation(places.at, reservationId, places.wallet)
}

export type ExtensionParts = {
  readonly hotState: Pick<HotState, 'extendReservation'>
  readonly partitionCount: (environment: Environment) => number
  readonly limits: { readonly reservationLifetimeSecondsMax: number }
}

/** Moves the expiry of a reservation of this provider to `ttlSeconds` from now, for its units and its credits. */
export async function extendReservation(
  { hotState, partitionCount, limits }: ExtensionParts,
  environment: Environment,
  providerId: string,
  { reservationId, ttlSeconds }: { readonly reservationId: string; readonly ttlSeconds: number },
): Promise<ExtendOutcome> {
  const places = placesOf(partitionCount, environment, providerId, reservationId)
  if (places === undefined) return { kind: 'gone' }
  return await hotState.extendReservation({
    at: places.at,
    reservationId,
    ttlMs: ttlSeconds * 1_000,
    lifetimeMsMax: limits.reservationLifetimeSecondsMax * 1_000,
    together: places.wallet,
  })
}

type Places = { readonly at: ReservationAddress; readonly wallet: PlaceName }

/** Returns where a reservation holds units and credits, or undefined for a text that is not a reference of one. */
function placesOf(
  partitionCount: ReleaseParts['partitionCount'],
  environment: Environment,
  providerId: string,
  reservationId: string,
): Places | undefined {
  const place = placeOfReservation(reservationId)
  if (place === undefined) return undefined
  const subject = subjectKey(providerId, place.customerRef)
  const partition = partitionOf(subject, partitionCount(environment))
  const at = { space: environment, partition, subject, scope: place.productRef }
  const wallet = { subject: walletSubject(providerId, place.customerRef), scope: walletScope }
  return { at, wallet }
}
