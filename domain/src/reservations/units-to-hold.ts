import { randomBytes } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import {
  keyedReservationReference,
  randomReservationReference,
} from '@tollgate/schemas/reservation-reference'

/** The units that a reservation holds. */
export type UnitsToHold = {
  /** Units by meter in 10^-6, at least one. */
  readonly units: ReadonlyMap<string, bigint>
  /** The caller gave the units by meter. */
  readonly isEstimate: boolean
  /** The caller named the meter. Otherwise the units are of `requests`. */
  readonly isNamed: boolean
}

type Reserve = NonNullable<LimitsRequest['reserve']>

export function unitsToHold(
  { units, estimate }: Reserve,
  meterName: string | undefined,
): UnitsToHold {
  const given = estimate ?? { [meterName || requestsMeterName]: units! }
  // The schema accepts only numbers that are an exact number of micros.
  const micros = Object.entries(given).map(
    ([name, count]) => [name, BigInt(microsFromNumber(count)!)] as const,
  )
  const isEstimate = estimate !== undefined
  return { units: new Map(micros), isEstimate, isNamed: isEstimate || Boolean(meterName) }
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
