import {
  readCountedUsage,
  UsageBehindError,
} from '@tollgate/domain/entitlements/counted-usage-reader'
import type { CountedUsage } from '@tollgate/domain/entitlements/counted-usage-reader'
import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { currentPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { answerLimitCheck, isDenied } from '@tollgate/domain/entitlements/limit-answer'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import {
  offerDocumentKey,
  windowId,
  type PublishedOffer,
} from '@tollgate/schemas/hot-state/documents'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { InFlightLimit } from '../domain/in-flight-limit.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { LimitChecker, LimitDecision } from '../domain/limit-checker.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { IngestCounts } from '../metrics.ts'

export type LimitCheckerParts = {
  readonly log: EventLog
  readonly hotState: HotState
  readonly inFlight: InFlightLimit
  readonly documents: EntitlementDocuments
  readonly counts: IngestCounts
  readonly nowMs: () => number
  readonly waitMs: number
  readonly tailRecordsMax: number
}

/** Answers limit checks from the published entitlement and the counters, which include all acknowledged usage. */
export class CounterLimitChecker implements LimitChecker {
  readonly #parts: LimitCheckerParts

  constructor(parts: LimitCheckerParts) {
    this.#parts = parts
  }

  async check(holder: KeyHolder, request: LimitsRequest): Promise<LimitDecision> {
    const { inFlight } = this.#parts
    inFlight.enter(1, 0)
    try {
      return await this.#decide(holder, request)
    } catch (cause) {
      if (cause instanceof UsageBehindError) this.#parts.counts.limitsTooFarBehind += 1
      throw new UnavailableError('The limit cannot be checked now, try again', { cause })
    } finally {
      inFlight.leave(1, 0)
    }
  }

  async #decide(holder: KeyHolder, request: LimitsRequest): Promise<LimitDecision> {
    // Read before the counters: a period that ends in between must not be answered with the next one's usage.
    const nowMs = this.#parts.nowMs()
    const { entitlement, amounts } = await this.#readUsage(holder, request)
    if (entitlement === undefined) return { kind: 'unknown' }
    const period = currentPeriod(entitlement, nowMs)
    if (period === undefined) return { kind: 'unknown' }
    const usedMicros = amounts.get(windowId(entitlement.purchaseRef, period.startSecond)) ?? 0n
    const check = { entitlement, usedMicros, creditBalance: 0n }
    if (!isDenied(check)) {
      return { kind: 'answered', response: answerLimitCheck({ ...check, offer: undefined }) }
    }
    const offer = await this.#readOffer(holder, request.productRef)
    if (offer === undefined) return { kind: 'unknown' }
    return { kind: 'answered', response: answerLimitCheck({ ...check, offer }) }
  }

  async #readUsage(holder: KeyHolder, request: LimitsRequest): Promise<CountedUsage> {
    const { counts, waitMs, tailRecordsMax } = this.#parts
    const usage = await readCountedUsage(this.#parts, {
      environment: holder.environment,
      providerId: holder.providerId,
      customerRef: request.customerRef,
      productRef: request.productRef,
      meterName: requestsMeterName,
      waitMs,
      tailRecordsMax,
    })
    if (usage.source !== 'counters') counts.projectionWaits += 1
    if (usage.source === 'tail') counts.tailFallbacks += 1
    return usage
  }

  async #readOffer(holder: KeyHolder, productRef: string): Promise<PublishedOffer | undefined> {
    const key = offerDocumentKey(holder.environment, holder.providerId, productRef)
    const document = await this.#parts.hotState.readDocument(key)
    return document === undefined ? undefined : (JSON.parse(document) as PublishedOffer)
  }
}
