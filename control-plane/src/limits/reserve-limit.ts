import { unitsToHold } from '@tollgate/domain/reservations/units-to-hold'
import {
  isHeld,
  toReserveResponse,
  type DecidedReservation,
} from '@tollgate/domain/reservations/reserve-response'
import {
  reserveUsage,
  type CustomerQuery,
  type ReservedUsage,
} from '@tollgate/domain/reservations/reserve-usage'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { offerOf } from '@tollgate/domain/catalog/plan-offer'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
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
  const issue = faultOfHold(reserved, ['reserve'])
  if (issue !== undefined) throw new InvalidRequestError([issue])
  const decided = reserved as DecidedReservation
  return toReserveResponse(
    decided,
    isHeld(decided) ? undefined : await findOffer(parts, operation, request),
  )
}

/** Returns the validation issue of a reservation that the customer's plan cannot make. */
export function faultOfHold(
  { kind }: ReservedUsage,
  path: readonly (string | number)[],
): ValidationIssue | undefined {
  if (kind === 'not-limited') {
    const message = 'The plan limits only `requests`. Only plans with charges hold other meters.'
    return { code: 'custom', path: [...path, 'estimate'], message }
  }
  if (kind === 'not-prepaid') {
    const message = 'The plan is not paid from a wallet, so no credits can be held for it.'
    return { code: 'custom', path: [...path, 'credits'], message }
  }
  return undefined
}

async function reserve(
  parts: ReservationParts,
  operation: Operation,
  { meterName, usageType, idempotencyKey, reserve, ...customer }: ReserveRequest,
): Promise<ReservedUsage> {
  const query = {
    ...customerQuery(parts, operation, customer),
    held: unitsToHold(reserve, meterName || usageType),
    ttlMs: reserve.ttlSeconds * 1000,
    idempotencyKey,
  }
  return await unlessBehind(() => reserveUsage(usageParts(parts), query))
}

export function usageParts({ eventLog: log, hotState, tails, progress }: ReservationParts) {
  return { log, hotState, tails, progress }
}

export function customerQuery(
  { limits }: ReservationParts,
  { environment, providerId, now }: Operation,
  { customerRef, productRef }: Pick<LimitsRequest, 'customerRef' | 'productRef'>,
): CustomerQuery {
  const { countersWaitMs: waitMs, tailRecordsMax, reservationsMax, creditsHeldMax } = limits
  return {
    ...{ environment, providerId, customerRef, productRef },
    ...{ nowMs: now.getTime(), waitMs, tailRecordsMax, reservationsMax, creditsHeldMax },
  }
}

export async function unlessBehind<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof UsageBehindError ? refusals.countersBehind() : error
  }
}

export async function findOffer(
  parts: ReadParts,
  operation: Operation,
  { productRef }: Pick<LimitsRequest, 'productRef'>,
): Promise<PublishedOffer | undefined> {
  const { providerId } = operation
  return read(parts, operation, async (sql) => {
    const product = await findProduct(sql, providerId, productRef)
    if (product === undefined) return undefined
    return offerOf(product, await listPlans(sql, providerId, [productRef]))
  })
}
