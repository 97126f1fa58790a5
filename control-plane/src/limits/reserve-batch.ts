import { reserveBatch } from '@tollgate/domain/reservations/reserve-batch'
import {
  isHeld,
  toReserveResponse,
  type DecidedReservation,
} from '@tollgate/domain/reservations/reserve-response'
import type { ReservedUsage } from '@tollgate/domain/reservations/reserve-usage'
import { unitsToHold } from '@tollgate/domain/reservations/units-to-hold'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { ReservationsRequest, ReservationsResponse } from '@tollgate/schemas/http/reservations'
import { InvalidRequestError, refusals } from '../errors.ts'
import { checkLimit } from './check-limit.ts'
import {
  customerQuery,
  faultOfHold,
  findOffer,
  unlessBehind,
  usageParts,
  type ReservationParts,
} from './reserve-limit.ts'

type Result = ReservationsResponse['results'][number]

/**
 * Makes several reservations for one customer and product in one step. As for a single one, the complete limit check runs first if no
 * current entry is published. Throws InvalidRequestError if the plan cannot make one of them; then none is made.
 */
export async function reserveForLimits(
  parts: ReservationParts,
  operation: Operation,
  request: ReservationsRequest,
): Promise<ReservationsResponse> {
  let reserved = await reserve(parts, operation, request)
  if (isUnknown(reserved)) {
    const { customerRef, productRef } = request
    const checked = await checkLimit(parts, operation, {
      ...{ customerRef, productRef, includeCheckoutSession: false },
    })
    reserved = await reserve(parts, operation, request)
    if (isUnknown(reserved)) {
      if (checked.withinLimits) throw refusals.countersBehind()
      return { success: true, held: 0, results: reserved.map(() => refusedBy(checked)) }
    }
  }
  const issues = reserved.map((each, index) =>
    faultOfHold(each, ['reservations', index, 'reserve']),
  )
  const faults = issues.filter((issue) => issue !== undefined)
  if (faults.length > 0) throw new InvalidRequestError(faults)
  return toResponse(reserved, request, () => findOffer(parts, operation, request))
}

function isUnknown(reserved: readonly ReservedUsage[]): boolean {
  return reserved.some(({ kind }) => kind === 'unknown')
}

async function reserve(
  parts: ReservationParts,
  operation: Operation,
  { allOrNothing, reservations, ...customer }: ReservationsRequest,
): Promise<readonly ReservedUsage[]> {
  const holds = reservations.map(({ meterName, reserve: given, idempotencyKey }, index) => ({
    held: unitsToHold(given, meterName),
    ttlMs: given.ttlSeconds * 1000,
    idempotencyKey: idempotencyKey || keyInBatch(operation, index),
  }))
  const mode = allOrNothing ? 'all-or-none' : 'each'
  const query = { ...customerQuery(parts, operation, customer), holds, mode } as const
  return await unlessBehind(() => reserveBatch(usageParts(parts), query))
}

/** Returns the key of a reservation without an own one, if the request has a key in its header. */
function keyInBatch({ idempotencyKey }: Operation, index: number): string | undefined {
  return idempotencyKey ? `${idempotencyKey}:${index}` : undefined
}

/** The offer is read only if a reservation is refused. */
async function toResponse(
  reserved: readonly ReservedUsage[],
  { allOrNothing }: ReservationsRequest,
  readOffer: () => Promise<PublishedOffer | undefined>,
): Promise<ReservationsResponse> {
  const isRefused = reserved.some((each) => isDecided(each) && !isHeld(each))
  const areDropped = allOrNothing && reserved.some((each) => !isDecided(each) || !isHeld(each))
  const offer = isRefused ? await readOffer() : undefined
  const results = reserved.map((each): Result => {
    if (each.kind === 'full') return { status: 'full' }
    if (!isDecided(each)) return { status: 'not_held' }
    if (!isHeld(each)) return refusedBy(toReserveResponse(each, offer))
    if (areDropped) return { status: 'not_held' }
    return { status: 'held', limits: toReserveResponse(each, undefined) }
  })
  const held = results.filter(({ status }) => status === 'held').length
  return { success: true, held, results }
}

function isDecided(reserved: ReservedUsage): reserved is DecidedReservation {
  return reserved.kind === 'decided' || reserved.kind === 'charged'
}

function refusedBy(limits: NonNullable<Result['limits']>): Result {
  return { status: 'refused', limits }
}
