import { randomBytes } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import {
  keyedReservationReference,
  randomReservationReference,
} from '@tollgate/schemas/reservation-reference'

/** What a reservation holds: units of meters, or credits of the wallet. */
export type UnitsToHold = {
  /** Units by meter in 10^-6. Empty if the caller asked for credits. */
  readonly units: ReadonlyMap<string, bigint>
  /** Credits in 10^-6, if the caller asked for credits instead of units. */
  readonly creditMicros?: bigint | undefined
  /** The caller gave the units by meter. */
  readonly isEstimate: boolean
  /** The caller named the meter. Otherwise the units are of `requests`. */
  readonly isNamed: boolean
}

type Reserve = NonNullable<LimitsRequest['reserve']>

export function unitsToHold(
  { units, estimate, credits }: Reserve,
  meterName: string | undefined,
): UnitsToHold {
  if (credits !== undefined) {
    const creditMicros = BigInt(microsFromNumber(credits)!)
    return { units: new Map(), creditMicros, isEstimate: false, isNamed: false }
  }
  const given = estimate ?? { [meterName || requestsMeterName]: units! }
  // The schema accepts only numbers that are an exact number of micros.
  const micros = Object.entries(given).map(
    ([name, count]) => [name, BigInt(microsFromNumber(count)!)] as const,
  )
  const isEstimate = estimate !== undefined
  return { units: new Map(micros), isEstimate, isNamed: isEstimate || Boolean(meterName) }
}

/** Returns what a response says about held credits. */
export function heldCredits({ creditMicros }: Pick<UnitsToHold, 'creditMicros'>): {
  readonly credits?: number
} {
  return creditMicros === undefined ? {} : { credits: numberFromMicros(creditMicros) }
}

export type ReservationName = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  /** If it is undefined or empty, each call returns a new id. */
  readonly idempotencyKey: string | undefined
}

/** Returns the id of a reservation of the customer with this own reference. */
export function reservationIdOf(
  { environment, providerId, productRef, idempotencyKey = '' }: ReservationName,
  customerRef: string,
): string {
  const place = { customerRef, productRef }
  if (idempotencyKey === '') return randomReservationReference(place, randomBytes)
  return keyedReservationReference(environment, providerId, place, idempotencyKey)
}
