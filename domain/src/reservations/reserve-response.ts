import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { toLimitsResponse } from '../entitlements/limit-answer.ts'
import type { ReservedUsage } from './reserve-usage.ts'
import { heldCredits } from './units-to-hold.ts'

export type DecidedReservation = Extract<ReservedUsage, { kind: 'decided' | 'charged' }>

/** Returns whether the units are held. A refusal needs the offer. */
export function isHeld(reserved: DecidedReservation): boolean {
  return reserved.kind === 'charged' ? reserved.isHeld : reserved.reservation !== undefined
}

/**
 * Returns the response to a reservation request. The remaining units are those that are neither used nor reserved, including by
 * this request.
 */
export function toReserveResponse(
  reserved: DecidedReservation,
  offer: PublishedOffer | undefined,
): LimitsResponse {
  if (reserved.kind === 'charged') return reserved.answer(offer)
  const {
    entitlement,
    takenMicros: usedMicros,
    allowedMicros,
    packs,
    creditMicros,
    reservation,
  } = reserved
  const check = { entitlement, usedMicros, allowedMicros, packs, offer, creditMicros }
  if (reservation === undefined) return toLimitsResponse(false, check)
  const { id, unitsMicros, expiresAtMs } = reservation
  const held = { units: numberFromMicros(unitsMicros), ...heldCredits(reservation) }
  const expiresAt = new Date(expiresAtMs).toISOString()
  return { ...toLimitsResponse(true, check), reservation: { id, ...held, expiresAt } }
}
