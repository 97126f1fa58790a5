import { unitsToHold } from '@tollgate/domain/reservations/units-to-hold'
import { isHeld, toReserveResponse } from '@tollgate/domain/reservations/reserve-response'
import { reserveUsage, type ReservedUsage } from '@tollgate/domain/reservations/reserve-usage'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { offerOf } from '@tollgate/domain/catalog/plan-offer'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import type { SharedTails } from '@tollgate/domain/entitlements/shared-tails'
import { InvalidRequestError, refusals } from '../errors.ts'
import { read, type ReadParts } from '../access/read.ts'
import { checkLimit, type LimitCheckParts } from './check-limit.ts'
import type { CounterParts } from './read-counters.ts'

export type ReservationParts = LimitCheckParts &
  CounterParts & {
    readonly tails: SharedTails
    readonly limits: {
      readonly creditsHeldMax: number
      readonly reservationsMax: number
      readonly tailRecordsMax: number
    }
  }

type ReserveRequest = LimitsRequest & { readonly reserve: NonNullable<LimitsRequest['reserve']> }

/**
 * Reserves units like the data plane, for requests that the data plane could not decide. If no current entry is published, the
 * complete limit check runs first: it creates a purchase for the customer if possible, and publishes the entries.
 */
export async function reserveLimit(
  parts: ReservationParts,
  operation: Operation,
  request: ReserveRequest,
): Promise<LimitsResponse> {
  let reserved = await reserve(parts, operation, request)
  if (reserved.kind === 'unknown') {
    const checked = await checkLimit(parts, operation, request)
    reserved = await reserve(parts, operation, request)
    if (reserved.kind === 'unknown') {
      // Without a purchase, nothing can be reserved. With one, the entries were lost or ended at this moment.
      if (checked.withinLimits) throw refusals.countersBehind()
      return checked
    }
  }
  if (reserved.kind === 'full') throw refusals.reservationsFull()
  if (reserved.kind === 'not-limited') {
    const message = 'The plan limits only `requests`. Only plans with charges hold other meters.'
    throw new InvalidRequestError([{ code: 'custom', path: ['reserve', 'estimate'], message }])
  }
  return toReserveResponse(
    reserved,
    isHeld(reserved) ? undefined : await findOffer(parts, operation, request),
  )
}

async function reserve(
  parts: ReservationParts,
  { environment, providerId, now }: Operation,
  { customerRef, productRef, meterName, usageType, idempotencyKey, reserve }: ReserveRequest,
): Promise<ReservedUsage> {
  const { eventLog: log, hotState, tails, progress, limits } = parts
  try {
    return await reserveUsage(
      { log, hotState, tails, progress },
      {
        environment,
        providerId,
        customerRef,
        productRef,
        held: unitsToHold(reserve, meterName || usageType),
        ttlMs: reserve.ttlSeconds * 1000,
        idempotencyKey,
        nowMs: now.getTime(),
        waitMs: limits.countersWaitMs,
        tailRecordsMax: limits.tailRecordsMax,
        reservationsMax: limits.reservationsMax,
        creditsHeldMax: limits.creditsHeldMax,
      },
    )
  } catch (error) {
    throw error instanceof UsageBehindError ? refusals.countersBehind() : error
  }
}

async function findOffer(
  parts: ReadParts,
  operation: Operation,
  { productRef }: LimitsRequest,
): Promise<PublishedOffer | undefined> {
  const { providerId } = operation
  return read(parts, operation, async (sql) => {
    const product = await findProduct(sql, providerId, productRef)
    if (product === undefined) return undefined
    return offerOf(product, await listPlans(sql, providerId, [productRef]))
  })
}
