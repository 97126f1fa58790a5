import { createHash } from 'node:crypto'
import type { Environment } from './environment.ts'
import { referencePrefixes, type EntropySource } from './references.ts'
import { base32After } from './usage-reference.ts'

/*
 * The reference of a reservation tells where it is kept, since nobody has a table of them: `rsv_`, 26 characters of
 * its own, then the customer's own reference and the product's, with dots between. Our customer references have none.
 *
 * Clients take it for opaque. One that is made up leads to a place of the caller's own provider, where nothing is
 * found under it.
 */

/** The customer by its own reference, and the product: reservations of the two are kept together. */
export type ReservationPlace = {
  readonly customerRef: string
  readonly productRef: string
}

const separator = '.'
const bytes = 16

/** A new one at every call. */
export function randomReservationReference(
  place: ReservationPlace,
  entropy: EntropySource,
): string {
  return referenceAt(place, entropy(bytes))
}

/** The same one for the same key, on any node. Each part's length stands before it, as none is free of any separator. */
export function keyedReservationReference(
  environment: Environment,
  providerId: string,
  place: ReservationPlace,
  idempotencyKey: string,
): string {
  const parts = [environment, providerId, place.customerRef, place.productRef, idempotencyKey]
  const scope = parts.map((part) => `${part.length}:${part}`).join('')
  const digest = createHash('sha256').update('reservation').update(scope).digest()
  return referenceAt(place, digest.subarray(0, bytes))
}

/** Undefined for what is no reference of a reservation. */
export function placeOfReservation(reservationId: string): ReservationPlace | undefined {
  if (!reservationId.startsWith(referencePrefixes.reservation)) return undefined
  const customerAt = reservationId.indexOf(separator) + 1
  const productAt = reservationId.indexOf(separator, customerAt) + 1
  if (customerAt === 0 || productAt === 0) return undefined
  return {
    customerRef: reservationId.slice(customerAt, productAt - 1),
    productRef: reservationId.slice(productAt),
  }
}

function referenceAt({ customerRef, productRef }: ReservationPlace, own: Uint8Array): string {
  const name = base32After(referencePrefixes.reservation, own)
  return [name, customerRef, productRef].join(separator)
}
