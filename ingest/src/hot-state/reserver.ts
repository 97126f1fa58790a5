import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { releaseReservation } from '@tollgate/domain/reservations/release-reservation'
import { unitsToHold } from '@tollgate/domain/reservations/units-to-hold'
import {
  isHeld,
  toReserveResponse,
  type DecidedReservation,
} from '@tollgate/domain/reservations/reserve-response'
import { reserveUsage, type ReservedUsage } from '@tollgate/domain/reservations/reserve-usage'
import type { TailParts } from '@tollgate/domain/entitlements/tail-parts'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import { usageTopic } from '@tollgate/schemas/topics'
import type { InFlightLimit } from '../domain/in-flight-limit.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { LimitDecision } from '../domain/limit-decision.ts'

import { UnavailableError } from '../domain/unavailable-error.ts'
import type { CustomerTimes } from './customer-times.ts'
import { OfferReader } from './offer-reader.ts'

export type ReserveRequest = LimitsRequest & {
  readonly reserve: NonNullable<LimitsRequest['reserve']>
}

export type ReserverParts = TailParts & {
  readonly log: EventLog
  readonly hotState: HotState
  readonly inFlight: InFlightLimit
  readonly documents: EntitlementDocuments
  readonly nowMs: () => number
  readonly customerTimes: CustomerTimes
  readonly waitMs: number
  readonly tailRecordsMax: number
  readonly reservationsMax: number
  readonly creditsHeldMax: number
}

/**
 * Reserves in the hot state if this process may write to it. The embedded hot state allows one writer, which holds the lock for as
 * long as its event loop is busy. There, ingest only reads, and the control plane reserves. Fails with UnavailableError if units
 * cannot be reserved exactly now.
 */
export class Reserver {
  readonly #parts: ReserverParts
  readonly #offers: OfferReader

  constructor(parts: ReserverParts) {
    this.#parts = parts
    this.#offers = new OfferReader(parts.hotState)
  }

  /** Returns 'unknown' also where this process cannot reserve: the control plane can. */
  async reserve(holder: KeyHolder, request: ReserveRequest): Promise<LimitDecision> {
    const { hotState, inFlight } = this.#parts
    if (!hotState.canReserve()) return { kind: 'unknown' }
    inFlight.enter(1, 0)
    try {
      const reserved = await this.#reserve(holder, request)
      // The control plane says what is wrong with a request that the plan cannot hold.
      if (!isAnswerable(reserved)) return { kind: 'unknown' }
      if (reserved.kind === 'full') {
        throw new UnavailableError('Too many reservations are held', { code: 'reservations_full' })
      }
      if (isHeld(reserved)) {
        return { kind: 'answered', response: toReserveResponse(reserved, undefined) }
      }
      const offer = await this.#offers.read(holder, request.productRef)
      if (offer === undefined) return { kind: 'unknown' }
      return { kind: 'answered', response: toReserveResponse(reserved, offer) }
    } catch (cause) {
      throw refusalOf(cause)
    } finally {
      inFlight.leave(1, 0)
    }
  }

  /** Returns whether the reservation was held until now. */
  async release(holder: KeyHolder, reservationId: string): Promise<boolean | 'unknown'> {
    const { hotState, log, inFlight } = this.#parts
    if (!hotState.canReserve()) return 'unknown'
    inFlight.enter(1, 0)
    try {
      const parts = {
        hotState,
        partitionCount: () => log.partitionCount(usageTopic(holder.environment)),
      }
      return await releaseReservation(parts, holder.environment, holder.providerId, reservationId)
    } catch (cause) {
      throw refusalOf(cause)
    } finally {
      inFlight.leave(1, 0)
    }
  }

  async #reserve(holder: KeyHolder, request: ReserveRequest): Promise<ReservedUsage> {
    const { nowMs, waitMs, tailRecordsMax, reservationsMax, creditsHeldMax } = this.#parts
    const times = await this.#parts.customerTimes.read(holder, [request.customerRef])
    const { customerRef, productRef, meterName, usageType, idempotencyKey, reserve } = request
    return reserveUsage(this.#parts, {
      environment: holder.environment,
      providerId: holder.providerId,
      customerRef,
      productRef,
      held: unitsToHold(reserve, meterName || usageType),
      ttlMs: reserve.ttlSeconds * 1000,
      idempotencyKey,
      nowMs: times?.get(customerRef) ?? nowMs(),
      waitMs,
      tailRecordsMax,
      reservationsMax,
      creditsHeldMax,
    })
  }
}

type Answerable = DecidedReservation | Extract<ReservedUsage, { kind: 'full' }>

function isAnswerable(reserved: ReservedUsage): reserved is Answerable {
  return reserved.kind === 'decided' || reserved.kind === 'charged' || reserved.kind === 'full'
}

/** Returns the refusal. The control plane could not reserve either, since reservations exist only in the hot state. */
function refusalOf(cause: unknown): UnavailableError {
  if (cause instanceof UnavailableError) return cause
  return new UnavailableError('Nothing can be reserved now, try again', { cause })
}
