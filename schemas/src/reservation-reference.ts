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

/** How a record uses a reservation. A record that is not final uses a part of it, and leaves the rest on hold. */
export type ReservationUse = { readonly reservationId: string; readonly isFinal: boolean }

/*
 * Records have one text for both, and the log's schema needs no field for it. Releases that do not know the prefix find no
 * reservation in the text, so they leave it on hold until it expires: they admit too little, never too much.
 */
const partPrefix = '+'

/** Returns the text that the record of a call has, or null without a reservation. */
export function reservationUseText(
  reservationId: string | undefined,
  isFinal: boolean | undefined,
): string | null {
  if (reservationId === undefined || reservationId === '') return null
  return isFinal === false ? `${partPrefix}${reservationId}` : reservationId
}

export function reservationUse(text: string): ReservationUse {
  if (!text.startsWith(partPrefix)) return { reservationId: text, isFinal: true }
  return { reservationId: text.slice(partPrefix.length), isFinal: false }
}

function referenceAt({ customerRef, productRef }: ReservationPlace, own: Uint8Array): string {
  const name = base32After(referencePrefixes.reservation, own)
  return [name, customerRef, productRef].join(separator)
}
