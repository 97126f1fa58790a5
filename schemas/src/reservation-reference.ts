import { createHash } from 'node:crypto'
import type { Environment } from './environment.ts'
import { referencePrefixes, type EntropySource } from './references.ts'
import { base32After } from './usage-reference.ts'

/*
 * The reference of a reservation encodes where it is stored, since there is no table of reservations. It consists of `rsv_`, 26
 * characters, the customer's own reference and the product's reference, separated by dots. Customer references of Tollgate contain
 * no dots.
 *
 * Clients treat it as opaque. An invented reference can only point to the caller's own provider, where no reservation has it.
 */

/** The customer's own reference and the product. Reservations of the pair are stored together. */
export type ReservationPlace = {
  readonly customerRef: string
  readonly productRef: string
}

const separator = '.'
const bytes = 16

/** Returns a new reference at every call. */
export function randomReservationReference(
  place: ReservationPlace,
  entropy: EntropySource,
): string {
  return referenceAt(place, entropy(bytes))
}

/**
 * Returns the same reference for the same key on any node. Lengths delimit the parts, because each part may contain any separator.
 */
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

/** Returns undefined for a text that is not the reference of a reservation. */
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
