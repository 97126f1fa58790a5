import type { Logger } from '@tollgate/platform/observability/logger'
import { WakeUps } from '@tollgate/platform/waiting/wake-ups'
import { referencePrefixes } from '@tollgate/schemas/references'
import type { EndpointNews } from '../domain/endpoint-health.ts'
import { judgeAttempt, type Verdict } from '../domain/judge-attempt.ts'
import { Lanes } from '../domain/lanes.ts'
import type { RetrySchedule } from '../domain/retry-schedule.ts'
import type { Claim, Claimed, ClaimedDelivery, Turn } from '../postgres/claim-deliveries.ts'
import type { Outcome } from '../postgres/record-outcomes.ts'
import type { Recorder } from './recorder.ts'
import type { Sent } from './send.ts'

export type DispatchLimits = {
  readonly claimDeliveriesMax: number
  readonly inFlightMax: number
  /** Of those, never taken by retries. */
  readonly firstAttemptsReserved: number
  readonly perEndpointMax: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly retryPauseMs: number
  readonly retrySchedule: RetrySchedule
}

export type DispatchParts = {
  readonly claim: (claim: Claim) => Promise<Claimed>
  readonly send: (delivery: ClaimedDelivery) => Promise<Sent>
  readonly promote: (delivery: ClaimedDelivery, secretRef: string) => Promise<void>
  readonly recorder: Recorder
  readonly onAttempted: (delivery: ClaimedDelivery, sent: Sent, verdict: Verdict) => void
  readonly now: () => Date
  readonly random: () => number
  readonly logger: Logger
  readonly limits: DispatchLimits
}

/** Until what somebody else holds is looked at again: another dispatcher soon lets go, an operator's transaction may not. */
const heldPauseMs = 10

/**
 * Sends what is due in one environment: claims back to back while there is room and something to send, then waits until it is
 * woken, a place becomes free, a retry of its own is due, or the poll.
 */
export class Dispatcher {
  readonly #parts: DispatchParts
  readonly #lanes: Lanes
  readonly #wakeUps = new WakeUps()
  readonly #after: Record<Turn, string>
  /** Whether the walk under way has begun with the first endpoint, and left nothing behind that could be sent. */
  readonly #isThorough: Record<Turn, boolean> = { first: false, retry: false }
  readonly #underWay = new Set<Promise<void>>()
  #retriesUnderWay = 0
  #wasWoken = false
  #isStopping = false
  #loop: Promise<void> | undefined

  constructor(parts: DispatchParts) {
    this.#parts = parts
    this.#lanes = new Lanes(parts.limits.perEndpointMax)
    this.#after = { first: somewhere(parts.random()), retry: somewhere(parts.random()) }
  }

  get underWay(): number {
    return this.#underWay.size
  }

  start(): void {
    this.#loop = this.#run()
  }

  wake(): void {
    this.#wasWoken = true
    this.#wakeUps.wake()
  }

  /** Claims no more, and lets what is being sent come to its end. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#parts.recorder.abandon()
    this.wake()
    await this.#loop
    await Promise.all(this.#underWay)
  }

  async #run(): Promise<void> {
    const { pollMs } = this.#parts.limits
    while (!this.#isStopping) {
      this.#wasWoken = false
      const isMore = await this.#claimRound()
      if (!isMore && !this.#wasWoken && !this.#isStopping) await this.#wakeUps.wait(pollMs)
    }
  }

  /** Whether there may be more to claim at once. */
  async #claimRound(): Promise<boolean> {
    try {
      const first = await this.#claim('first')
      const retry = await this.#claim('retry')
      return first || retry
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'deliveries could not be claimed')
      await this.#wakeUps.wait(this.#parts.limits.retryPauseMs)
      return true
    }
  }

  async #claim(turn: Turn): Promise<boolean> {
    const { claim, limits } = this.#parts
    const deliveriesMax = Math.min(limits.claimDeliveriesMax, this.#roomFor(turn))
    if (deliveriesMax <= 0) return false
    const now = this.#parts.now()
    const after = this.#after[turn]
    const { deliveries, found, reached, cutBehind } = await claim({
      turn,
      now,
      leasedUntil: new Date(now.getTime() + limits.leaseMs),
      deliveriesMax,
      perEndpointMax: limits.perEndpointMax,
      room: this.#lanes.room(now),
      after,
    })
    for (const delivery of deliveries) this.#begin(delivery)
    if (found > 0 && deliveries.length === 0) await this.#wakeUps.wait(heldPauseMs)
    const isFull = found >= deliveriesMax
    // Endpoints of which nothing is due are passed in parts, or those behind them would never be reached.
    this.#after[turn] = isFull ? reached : cutBehind
    // Otherwise those before the one it began with have not been looked at, or others were faster.
    this.#isThorough[turn] =
      (after === '' || this.#isThorough[turn]) && !isFull && deliveries.length === found
    return this.#after[turn] !== '' || !this.#isThorough[turn]
  }

  #roomFor(turn: Turn): number {
    const { inFlightMax, firstAttemptsReserved } = this.#parts.limits
    const room = inFlightMax - this.#underWay.size
    if (turn === 'first') return room
    return Math.min(room, inFlightMax - firstAttemptsReserved - this.#retriesUnderWay)
  }

  #begin(delivery: ClaimedDelivery): void {
    const isRetry = delivery.turn === 'retry'
    this.#lanes.enter(delivery.endpointRef)
    if (isRetry) this.#retriesUnderWay += 1
    let hasTimedOut = false
    const work = this.#deliver(delivery)
      .then((sent) => {
        hasTimedOut = sent.hasTimedOut
      })
      .catch((error: unknown) => {
        // Its lease ends, and somebody tries again.
        const { reference } = delivery
        this.#parts.logger.error({ err: error, delivery: reference }, 'a delivery broke off')
      })
      .finally(() => {
        this.#underWay.delete(work)
        this.#lanes.leave(delivery.endpointRef, hasTimedOut, this.#parts.now())
        if (isRetry) this.#retriesUnderWay -= 1
        this.wake()
      })
    this.#underWay.add(work)
  }

  async #deliver(delivery: ClaimedDelivery): Promise<Sent> {
    const { send, recorder, limits, onAttempted } = this.#parts
    const sent = await send(delivery)
    const endedAt = this.#parts.now()
    const isUnsendable = delivery.body === null
    const facts = { ...sent, isUnsendable, attemptsBefore: delivery.attempts, endedAt }
    const verdict = judgeAttempt(limits.retrySchedule, facts, this.#parts.random())
    onAttempted(delivery, sent, verdict)
    await recorder.add(outcomeOf(delivery, sent, verdict, endedAt), newsOf(delivery, sent, verdict))
    if (verdict.kind === 'retry') this.#wakeAt(verdict.dueAt)
    if (sent.secretToPromote !== undefined) await this.#promote(delivery, sent.secretToPromote)
    return sent
  }

  /** After the outcome stands. Where it fails, or the process dies before, the next delivery is refused and does it. */
  async #promote(delivery: ClaimedDelivery, secretRef: string): Promise<void> {
    try {
      await this.#parts.promote(delivery, secretRef)
    } catch (error) {
      const { endpointRef: endpoint } = delivery
      this.#parts.logger.warn({ err: error, endpoint }, 'a secret could not be made to sign first')
    }
  }

  /** A retry that is due before the next poll. */
  #wakeAt(dueAt: Date): void {
    const waitMs = dueAt.getTime() - this.#parts.now().getTime()
    if (waitMs >= this.#parts.limits.pollMs || this.#isStopping) return
    setTimeout(() => this.wake(), Math.max(0, waitMs)).unref()
  }
}

/** Where the first walk begins, so that several processes do not reach for the same. */
function somewhere(random: number): string {
  return (
    referencePrefixes.webhookEndpoint +
    Math.floor(random * 36)
      .toString(36)
      .toUpperCase()
  )
}

function outcomeOf(
  delivery: ClaimedDelivery,
  { attempts }: Sent,
  verdict: Verdict,
  endedAt: Date,
): Outcome {
  const { providerId, reference: deliveryRef, claim } = delivery
  return {
    providerId,
    deliveryRef,
    claim,
    state: stateAfter[verdict.kind],
    dueAt: verdict.kind === 'retry' ? verdict.dueAt : null,
    endedAt,
    attempts,
  }
}

function newsOf(delivery: ClaimedDelivery, sent: Sent, verdict: Verdict): EndpointNews[] {
  if (delivery.body === null) return []
  const { startedAt } = sent.attempts[0]
  return [
    {
      endpointRef: delivery.endpointRef,
      isSuccess: verdict.kind === 'succeeded',
      isGone: verdict.kind !== 'succeeded' && verdict.isGone,
      startedAt,
      exhaustedSince: verdict.kind === 'exhausted' ? (delivery.firstAttemptAt ?? startedAt) : null,
    },
  ]
}

const stateAfter = { succeeded: 'succeeded', retry: 'pending', exhausted: 'failed' } as const
