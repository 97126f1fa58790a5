import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { unlessAborted } from '@tollgate/platform/waiting/unless-aborted'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Records } from '../records/open-records.ts'
import type { AskLimits, LimitsAnswer } from './ask-limits.ts'
import type { AllCustomerCalls, CustomerCalls, Reading } from './customer-calls.ts'
import type { Admission, GatedCall, Settle } from './gate.ts'
import type { GateLimits } from './gate-settings.ts'
import type { GateMetrics } from './metrics.ts'
import type { KeyUses } from './key-uses.ts'
import { LimitQueries } from './limit-queries.ts'
import type { Links } from './links.ts'
import { adviseFor, decidePaywall, gateOf, type DeniedLimits, type Paywall } from './paywall.ts'
import { paywallAnswer } from './paywall-answer.ts'
import { isOpenToPlan, isPublic, solePlanOf } from './plan-access.ts'
import { recordOf } from './record-of-call.ts'
import type { ReleaseUnanswered } from './release-hold.ts'
import { abandonedEnd, placeOf, RunningCall, type Release } from './running-call.ts'

export type AdmissionParts = {
  readonly askLimits: AskLimits
  readonly release: Release
  readonly releaseUnansweredHold: ReleaseUnanswered
  readonly links: Links
  readonly records: Records
  readonly calls: AllCustomerCalls
  readonly keyUses: KeyUses
  readonly limits: GateLimits
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: GateMetrics
}

/**
 * How long a call near its cap waits for 2 things: that ingest has recorded the customer's earlier calls, and has released the
 * holds of calls that do not count.
 */
const confirmedWithinMs = 2_000

const warningIntervalMs = 5_000

const unavailableMessage = 'This tool cannot be used at the moment. Try again in a few seconds.'

const unknownMessage = 'The product of this tool is not available to this customer.'

type Checked =
  | { readonly kind: 'allowed'; readonly reservationId?: string }
  | { readonly kind: 'denied'; readonly denied: DeniedLimits; readonly response: LimitsResponse }
  | { readonly kind: 'unknown'; readonly reason: string; readonly isFinal?: true }

/** Decides whether one tool call may run: first plan access, then the limit, then the hold. Sends no request to the origin. */
export class Admissions {
  readonly #parts: AdmissionParts
  readonly #queries: LimitQueries
  #warnedAtMs = -warningIntervalMs

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#queries = new LimitQueries(parts.askLimits, parts.limits.limitsPatienceMs)
  }

  async admit(call: GatedCall): Promise<Admission> {
    if (isPublic(call.server, call.toolName)) return { kind: 'open' }
    const { records, clock, metrics } = this.#parts
    // A call must not begin without room for its record, because the record would be lost or would have to wait for the disk.
    if (!records.promiseRoom()) {
      metrics.admissions.inc({ decision: 'journal_full' })
      return { kind: 'unavailable', message: unavailableMessage }
    }
    const acceptedAtMs = clock.now()
    const startedAtMs = performance.now()
    let admission: Admission | undefined
    try {
      admission = await this.#decide(call, acceptedAtMs, startedAtMs)
      metrics.admissions.inc({ decision: admission.kind })
      metrics.admissionSeconds.observe((performance.now() - startedAtMs) / 1000)
      return admission
    } finally {
      // An admitted call keeps its promised room until it is settled.
      if (admission?.kind !== 'admitted') records.endPromise()
    }
  }

  async #decide(call: GatedCall, acceptedAtMs: number, startedAtMs: number): Promise<Admission> {
    const checked = await this.#check(call)
    if (checked.kind === 'allowed') {
      return { kind: 'admitted', settle: this.#settleOf(call, acceptedAtMs, checked.reservationId) }
    }
    if (checked.kind === 'denied') {
      return this.#paywall(call, checked, acceptedAtMs, startedAtMs)
    }
    const { limits } = this.#parts
    this.#warn(call, checked.reason)
    if (limits.limitsUnknown === 'allow' && checked.isFinal !== true) {
      this.#callsOf(call).add()
      return { kind: 'admitted', settle: this.#settleOf(call, acceptedAtMs, undefined) }
    }
    const message = checked.isFinal === true ? unknownMessage : unavailableMessage
    return { kind: 'unavailable', message }
  }

  /** Logs at most one warning per interval, because every call fails here while ingest is unavailable. */
  #warn({ server: { productRef } }: GatedCall, reason: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#warnedAtMs < warningIntervalMs) return
    this.#warnedAtMs = nowMs
    this.#parts.logger.warn({ productRef, reason }, 'the limits of a customer are unknown')
  }

  async #check(call: GatedCall): Promise<Checked> {
    const { limits } = this.#parts
    if (limits.holds === 'always') return this.#checkAndHold(call, () => false)
    const calls = this.#callsOf(call)
    if (await this.#admitByRecent(call, calls)) return { kind: 'allowed' }
    const askedAtMs = performance.now()
    const reading = calls.read()
    const answer = await this.#queries.ask(call)
    if (answer.kind === 'unknown' && this.#isAllowedByRecent(call, calls, askedAtMs)) {
      calls.add()
      return { kind: 'allowed' }
    }
    const checked = judge(call, answer)
    if (checked.kind !== 'allowed' || answer.kind !== 'answered') return checked
    const { remaining } = answer.response
    if (limits.holds === 'near' && calls.left(remaining, reading) <= limits.holdBelowUnits) {
      return this.#checkAndHold(call, () => calls.left(remaining, reading) > 0)
    }
    // Count the call before any other code runs, so that calls checked at the same time see each other.
    calls.add()
    this.#remember(calls, answer.response, reading, askedAtMs)
    return checked
  }

  /**
   * Admits and counts the call if the most recent answer of ingest allows it and the cap is far away. An answer that is no longer
   * fresh is used up to `limitsStaleMs` after it was requested, but only if ingest does not answer a query for newer limits in time.
   */
  async #admitByRecent(call: GatedCall, calls: CustomerCalls): Promise<boolean> {
    const nowMs = performance.now()
    if (!this.#isAllowedByRecent(call, calls, nowMs)) return false
    const { limitsFreshMs, limitsPatienceMs } = this.#parts.limits
    // Without a time for which answers are fresh, each call queries ingest itself.
    if (limitsFreshMs === 0 && !this.#queries.isOverdue(nowMs)) return false
    const { untilMs } = calls.recent!
    if (nowMs >= untilMs - limitsFreshMs / 2) this.#refresh(call, calls)
    if (nowMs >= untilMs && !this.#queries.isOverdue(nowMs)) {
      const { ended, sinceMs } = calls.refreshing!
      const patience = AbortSignal.timeout(
        Math.max(0, Math.ceil(sinceMs + limitsPatienceMs - nowMs)),
      )
      await unlessAborted(ended, patience).catch(() => undefined)
      // The query may have been answered meanwhile, and other calls of the customer may have been admitted.
      if (!this.#isAllowedByRecent(call, calls, nowMs)) return false
    }
    calls.add()
    return true
  }

  #isAllowedByRecent(
    { server, toolName }: GatedCall,
    calls: CustomerCalls,
    nowMs: number,
  ): boolean {
    const { recent } = calls
    const { limitsStaleMs, limitsFreshMs, holdBelowUnits } = this.#parts.limits
    if (recent === undefined || !isOpenToPlan(server, toolName, recent.planRef)) return false
    const isUsable = nowMs - recent.askedAtMs <= Math.max(limitsStaleMs, limitsFreshMs)
    return isUsable && calls.left(recent.remaining, recent.reading) > holdBelowUnits
  }

  /** Queries ingest for newer limits in the background, with at most one query of the customer at a time. */
  #refresh(call: GatedCall, calls: CustomerCalls): void {
    if (calls.refreshing !== undefined) return
    const ended = this.#renew(call, calls).finally(() => (calls.refreshing = undefined))
    calls.refreshing = { ended, sinceMs: performance.now() }
  }

  async #renew(call: GatedCall, calls: CustomerCalls): Promise<void> {
    const askedAtMs = performance.now()
    const reading = calls.read()
    const answer = await this.#queries.ask(call)
    const { recent } = calls
    if (answer.kind === 'unknown') {
      // Keep the most recent answer, and do not query ingest again with every call.
      const untilMs = performance.now() + this.#parts.limits.limitsFreshMs
      calls.recent = recent && { ...recent, untilMs }
    } else if (answer.kind === 'answered' && judge(call, answer).kind === 'allowed') {
      this.#remember(calls, answer.response, reading, askedAtMs)
    } else {
      // Forget the limits, so that the next call queries ingest itself and returns the reason of the denial.
      calls.recent = undefined
    }
  }

  #remember(
    calls: CustomerCalls,
    { plan, remaining }: LimitsResponse,
    reading: Reading,
    askedAtMs: number,
  ): void {
    const untilMs = askedAtMs + this.#parts.limits.limitsFreshMs
    calls.recent = { planRef: plan, remaining, reading, askedAtMs, untilMs }
  }

  /**
   * Requests a hold for the call.
   *
   * Ingest subtracts holds and recorded calls from what remains. It does not know calls without a hold that are still running, or
   * whose records are not delivered yet. A hold that leaves room for all of them is accepted at once. Otherwise the call waits
   * until their records have reached ingest.
   */
  async #checkAndHold(call: GatedCall, hasRoom: () => boolean): Promise<Checked> {
    const isNear = this.#parts.limits.holds === 'near'
    const calls = this.#callsOf(call)
    const until = performance.now() + confirmedWithinMs
    if (isNear && calls.unconfirmed > 0 && hasRoom()) {
      const checked = await this.#holdEarly(call, calls)
      if (checked !== undefined) return checked
    }
    while (calls.releasing > 0 || (isNear && calls.unconfirmed + calls.holdingEarly > 0)) {
      if (performance.now() > until) {
        return { kind: 'unknown', reason: 'calls before are not recorded yet' }
      }
      await sleep(5)
    }
    return this.#judgeHold(call, calls, await calls.hold(this.#hold(call)))
  }

  /**
   * Tries to get a hold while calls without a hold are running. Returns undefined and keeps no hold if the outcome of those calls
   * decides whether a unit is left.
   */
  async #holdEarly(call: GatedCall, calls: CustomerCalls): Promise<Checked | undefined> {
    const reading = calls.read()
    calls.holdingEarly++
    try {
      const answer = await calls.hold(this.#hold(call))
      const checked = this.#judgeHold(call, calls, answer)
      if (checked.kind === 'denied' && checked.denied.reason === 'limit') return undefined
      if (checked.kind !== 'allowed' || answer.kind !== 'answered') return checked
      if (calls.leftBesideHold(answer.response.remaining, reading) >= 0) return checked
      if (checked.reservationId !== undefined) this.#releaseHold(call, calls, checked.reservationId)
      return undefined
    } finally {
      calls.holdingEarly--
    }
  }

  #judgeHold(call: GatedCall, calls: CustomerCalls, answer: LimitsAnswer): Checked {
    const checked = judge(call, answer)
    const reservationId = answer.kind === 'answered' ? answer.response.reservation?.id : undefined
    if (reservationId === undefined) return checked
    if (checked.kind === 'allowed') return { kind: 'allowed', reservationId }
    this.#releaseHold(call, calls, reservationId)
    return checked
  }

  #releaseHold({ server }: GatedCall, calls: CustomerCalls, reservationId: string): void {
    calls.release(this.#parts.release(server, reservationId))
  }

  /**
   * Requests a hold, and retries while ingest is busy: ingest answers a hold only after its counters are up to date, which takes
   * time under load. If there is no answer in the end, ingest may hold the unit all the same, so it is released in the background.
   */
  async #hold(call: GatedCall): Promise<LimitsAnswer> {
    const { askLimits, releaseUnansweredHold, limits } = this.#parts
    const until = performance.now() + limits.limitsTimeoutMs
    for (let pauseMs = 25; ; pauseMs *= 2) {
      const answer = await askLimits(call, limits.holdSeconds)
      if (answer.kind !== 'unknown') return answer
      if (answer.isBusy !== true || performance.now() + pauseMs > until) {
        const mayHold = answer.isBusy === true || answer.isAway === true
        if (mayHold) this.#callsOf(call).release(releaseUnansweredHold(call))
        return answer
      }
      await sleep(pauseMs)
    }
  }

  #callsOf(call: GatedCall): CustomerCalls {
    return this.#parts.calls.of(placeOf(call))
  }

  #settleOf(call: GatedCall, acceptedAtMs: number, reservationId: string | undefined): Settle {
    const running = new RunningCall(this.#parts, call, acceptedAtMs, reservationId)
    const settle: Settle = (end) => running.settle(end)
    abandonedEnd.register(settle, running)
    return settle
  }

  async #paywall(
    call: GatedCall,
    { denied, response }: Extract<Checked, { kind: 'denied' }>,
    acceptedAtMs: number,
    startedAtMs: number,
  ): Promise<Admission> {
    const { links, records, limits, metrics } = this.#parts
    const { server, customerRef } = call
    const paywall = decidePaywall(denied, response)
    const purpose = paywall.recovery === 'topup' ? 'topup' : 'checkout'
    const isPlanMissing = denied.reason === 'plan' || response.plan === ''
    const planRef = isPlanMissing ? planToBuy(call, paywall) : undefined
    const url = await links.urlOf({ server, customerRef, purpose, planRef })
    const advised = adviseFor(call.client, paywall)
    const answer = paywallAnswer(call, gateOf(advised, url, server.productRef, response))
    metrics.paywalls.inc({ reason: denied.reason, form: answer.kind })
    // A call that asks the user for input has not ended yet, so it is not recorded.
    if (answer.kind !== 'input_required') {
      const durationMs = Math.round(performance.now() - startedAtMs)
      const end = { outcome: 'paywall' as const, durationMs, reason: `paywall:${denied.reason}` }
      records.append(recordOf(call, acceptedAtMs, end, undefined, limits.clientKeys))
    }
    return { kind: 'paywalled', answer }
  }
}

/** Returns the reference of the plan that the link offers, or undefined if the customer chooses a plan on the page. */
function planToBuy({ server, toolName }: GatedCall, { recovery }: Paywall): string | undefined {
  if (recovery === 'activate_plan') return server.defaultPlanRef
  return recovery === 'upgrade' ? solePlanOf(server, toolName) : undefined
}

function judge({ server, toolName }: GatedCall, answer: LimitsAnswer): Checked {
  if (answer.kind === 'refused') return { kind: 'unknown', reason: answer.reason, isFinal: true }
  if (answer.kind === 'unknown') return answer
  const { response } = answer
  if (!isOpenToPlan(server, toolName, response.plan)) {
    const isWithout = response.plan === ''
    const denied: DeniedLimits = isWithout ? { reason: 'limit' } : { reason: 'plan', toolName }
    return { kind: 'denied', denied, response }
  }
  if (!response.withinLimits) return { kind: 'denied', denied: { reason: 'limit' }, response }
  return { kind: 'allowed' }
}
