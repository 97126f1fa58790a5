import {
  readCountedUsage,
  type CountedUsage,
} from '@tollgate/domain/entitlements/counted-usage-reader'
import { allowedMicros } from '@tollgate/domain/entitlements/allowed-units'
import { entitlementOfPeriod, hasCharges } from '@tollgate/domain/entitlements/charge-limits'
import { carriedOverMicros } from '@tollgate/domain/entitlements/carried-over'
import { packUnits } from '@tollgate/domain/entitlements/pack-units'
import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { answerStopped, isStopped } from '@tollgate/domain/budgets/entitled-stop'
import { currentPeriod, windowOfPeriod } from '@tollgate/domain/entitlements/counting-windows'
import {
  answerLimitCheck,
  isDenied,
  type LimitCheck,
} from '@tollgate/domain/entitlements/limit-answer'
import type { PublishedPeriod } from '@tollgate/domain/reservations/read-charge-check'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import { TailBusyError, UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { TailParts } from '@tollgate/domain/entitlements/tail-parts'
import { spendableMicros, readWallet } from '@tollgate/domain/wallet/read-wallet'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { InFlightLimit } from '../domain/in-flight-limit.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { LimitDecision } from '../domain/limit-decision.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { IngestCounts } from '../metrics.ts'
import { checkCharges } from './check-charges.ts'
import { OfferReader } from './offer-reader.ts'

export type LimitCheckerParts = TailParts & {
  readonly log: EventLog
  readonly hotState: HotState
  readonly inFlight: InFlightLimit
  readonly documents: EntitlementDocuments
  readonly counts: IngestCounts
  readonly nowMs: () => number
  readonly waitMs: number
  readonly tailRecordsMax: number
}

/**
 * Answers limit checks from the published entitlement and from the counters, which include all acknowledged usage. The answer is
 * synchronous if nothing has to be waited for. Fails with UnavailableError if a true answer is not possible now.
 */
export class LimitChecker {
  readonly #parts: LimitCheckerParts & { readonly offers: OfferReader }

  constructor(parts: LimitCheckerParts) {
    this.#parts = { ...parts, offers: new OfferReader(parts.hotState) }
  }

  check(
    holder: KeyHolder,
    request: LimitsRequest,
    caller?: Caller,
  ): LimitDecision | Promise<LimitDecision> {
    const { inFlight } = this.#parts
    // Read the clock before the counters: if a period ends in between, the usage of the next period must not decide.
    const nowMs = this.#parts.nowMs()
    inFlight.enter(1, 0)
    let usage: CountedUsage | Promise<CountedUsage>
    let verdict: Verdict | undefined
    try {
      usage = this.#readUsage(holder, request, caller)
      verdict = usage instanceof Promise ? undefined : judge(usage, nowMs)
    } catch (cause) {
      inFlight.leave(1, 0)
      return unanswerable(cause)
    }
    if (verdict === undefined || isUnfinished(verdict)) {
      return this.#checkLater(holder, request, nowMs, usage, caller)
    }
    inFlight.leave(1, 0)
    return verdict
  }

  async #checkLater(
    holder: KeyHolder,
    request: LimitsRequest,
    nowMs: number,
    reading: CountedUsage | Promise<CountedUsage>,
    caller: Caller | undefined,
  ): Promise<LimitDecision> {
    try {
      const usage = await reading
      this.#count(usage)
      const judged = judge(usage, nowMs)
      if (judged.kind === 'charged') {
        return await checkCharges(this.#parts, holder, request, judged, caller)
      }
      if (judged.kind === 'stopped') return await this.#answerStopped(holder, request, judged)
      const verdict = judged.kind === 'paid' ? await this.#judgePaid(holder, judged) : judged
      if (verdict.kind !== 'denied') return verdict
      const offer = await this.#parts.offers.read(holder, request.productRef)
      if (offer === undefined) return { kind: 'unknown' }
      return { kind: 'answered', response: answerLimitCheck({ ...verdict.check, offer }) }
    } catch (cause) {
      return unanswerable(cause)
    } finally {
      this.#parts.inFlight.leave(1, 0)
    }
  }

  async #answerStopped(
    holder: KeyHolder,
    { productRef, meterName, usageType }: LimitsRequest,
    { entitlement }: Stopped,
  ): Promise<LimitDecision> {
    const offer = await this.#parts.offers.read(holder, productRef)
    if (offer === undefined) return { kind: 'unknown' }
    const named = meterName || usageType || requestsMeterName
    return { kind: 'answered', response: answerStopped(entitlement, named, offer) }
  }

  async #judgePaid({ environment, providerId }: KeyHolder, { used }: Paid): Promise<FinalVerdict> {
    const { customerRef } = used.entitlement
    const name = { environment, providerId, customerRef }
    const wallet = await readWallet(this.#parts, name, this.#parts.waitMs)
    return verdictOf({ ...used, creditMicros: spendableMicros(wallet) })
  }

  #readUsage(
    holder: KeyHolder,
    request: LimitsRequest,
    caller: Caller | undefined,
  ): CountedUsage | Promise<CountedUsage> {
    const { waitMs, tailRecordsMax } = this.#parts
    return readCountedUsage(this.#parts, {
      environment: holder.environment,
      providerId: holder.providerId,
      customerRef: request.customerRef,
      productRef: request.productRef,
      meterName: requestsMeterName,
      waitMs,
      tailRecordsMax,
      caller,
    })
  }

  #count({ source }: CountedUsage): void {
    const { counts } = this.#parts
    if (source !== 'counters') counts.projectionWaits += 1
    if (source === 'tail') counts.tailFallbacks += 1
  }
}

/** Throws UnavailableError if the control plane could not answer either or would have to do the same work. */
function unanswerable(cause: unknown): LimitDecision {
  if (cause instanceof EventLogUnavailableError || cause instanceof TailBusyError) {
    throw new UnavailableError('The limit cannot be checked now, try again', { cause })
  }
  const reason = cause instanceof UsageBehindError ? 'behind' : 'unreadable'
  return { kind: 'unanswerable', reason }
}

type FinalVerdict =
  LimitDecision | { readonly kind: 'denied'; readonly check: Omit<LimitCheck, 'offer'> }

/** The wallet must be read before a decision. */
type Paid = { readonly kind: 'paid'; readonly used: Omit<LimitCheck, 'offer' | 'creditMicros'> }

/** The counters of other meters must be read before a decision. */
type Charged = { readonly kind: 'charged' } & PublishedPeriod

/** The customer's budget refuses every call. */
type Stopped = { readonly kind: 'stopped'; readonly entitlement: Entitlement }

type Verdict = FinalVerdict | Paid | Charged | Stopped

/** Returns whether something must be read before the answer. */
function isUnfinished(verdict: Verdict): verdict is Exclude<Verdict, LimitDecision> {
  switch (verdict.kind) {
    case 'paid':
    case 'charged':
    case 'stopped':
    case 'denied':
      return true
    default:
      return false
  }
}

/** Decides without the offer of other products, which only a refusal needs. */
function judge({ entitlement, amounts, document }: CountedUsage, realMs: number): Verdict {
  const nowMs = entitlement?.clockMs ?? realMs
  const period = entitlement && currentPeriod(entitlement, nowMs)
  if (entitlement === undefined || period === undefined) return { kind: 'unknown' }
  if (isStopped(entitlement, nowMs)) return { kind: 'stopped', entitlement }
  const charged = entitlementOfPeriod(entitlement, period)
  if (hasCharges(charged)) {
    const nowSecond = Math.floor(nowMs / 1000)
    return { kind: 'charged', entitlement: charged, period, nowSecond, document }
  }
  const usedMicros = amounts.get(windowOfPeriod(entitlement, period.startSecond)) ?? 0n
  const carried = carriedOverMicros(entitlement, period, amounts, nowMs)
  const packs = packUnits(entitlement, requestsMeterName, period, amounts, nowMs)
  const used = {
    entitlement,
    usedMicros,
    allowedMicros: allowedMicros(entitlement, period, carried, packs),
    packs,
  }
  if (entitlement.credit !== null) return { kind: 'paid', used }
  return verdictOf({ ...used, creditMicros: 0n })
}

function verdictOf(check: Omit<LimitCheck, 'offer'>): FinalVerdict {
  if (isDenied(check)) return { kind: 'denied', check }
  return { kind: 'answered', response: answerLimitCheck({ ...check, offer: undefined }) }
}
