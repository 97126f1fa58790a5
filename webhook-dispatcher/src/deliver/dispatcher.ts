import type { Logger } from '@tollgate/platform/observability/logger'
import { WakeUps } from '@tollgate/platform/waiting/wake-ups'
import { referencePrefixes } from '@tollgate/schemas/references'
import type { AttemptReport } from '../domain/endpoint-health.ts'
import { judgeAttempt, type Verdict } from '../domain/judge-attempt.ts'
import { EndpointConcurrency } from '../domain/endpoint-concurrency.ts'
import type { RetrySchedule } from '../domain/retry-schedule.ts'
import type { Claim, Claimed, ClaimedDelivery, Turn } from '../postgres/claim-deliveries.ts'
import type { Outcome } from '../postgres/record-outcomes.ts'
import type { Recorder } from './recorder.ts'
import type { Sent } from './send.ts'

export type DispatchLimits = {
  readonly claimDeliveriesMax: number
  readonly inFlightMax: number
  /** Places of `inFlightMax` that retries never use. */
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

/**
 * Pause after a claim that found only rows locked by another transaction. Another dispatcher releases its locks soon; an operator's
 * transaction may hold them for long, and must not be polled in a tight loop.
 */
const lockedPauseMs = 10

/**
 * Sends the due deliveries of one environment. Claims repeat while there is capacity and something is due. Then the dispatcher
 * waits for a notification, a finished delivery, the due time of one of its own retries, or the poll.
 */
export class Dispatcher {
  readonly #parts: DispatchParts
  readonly #concurrency: EndpointConcurrency
  readonly #wakeUps = new WakeUps()
  readonly #after: Record<Turn, string>
  /** Whether the current pass over the endpoints began with the first endpoint and left no sendable delivery behind. */
  readonly #isFullPass: Record<Turn, boolean> = { first: false, retry: false }
  readonly #inFlight = new Set<Promise<void>>()
  #retriesInFlight = 0
  #wasWoken = false
  #isStopping = false
  #loop: Promise<void> | undefined

  constructor(parts: DispatchParts) {
    this.#parts = parts
    this.#concurrency = new EndpointConcurrency(parts.limits.perEndpointMax)
    this.#after = {
      first: randomEndpointRef(parts.random()),
      retry: randomEndpointRef(parts.random()),
    }
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  start(): void {
    this.#loop = this.#run()
  }

  wake(): void {
    this.#wasWoken = true
    this.#wakeUps.wake()
  }

  /** Stops claiming and resolves when all attempts in flight have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#parts.recorder.abandon()
    this.wake()
    await this.#loop
    await Promise.all(this.#inFlight)
  }

  async #run(): Promise<void> {
    const { pollMs } = this.#parts.limits
    while (!this.#isStopping) {
      this.#wasWoken = false
      const mayBeMore = await this.#claimRound()
      if (!mayBeMore && !this.#wasWoken && !this.#isStopping) await this.#wakeUps.wait(pollMs)
    }
  }

  /** Returns whether more deliveries may be claimable immediately. */
  async #claimRound(): Promise<boolean> {
    try {
      const first = await this.#claim('first')
      const retry = await this.#claim('retry')
      return first || retry
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'could not claim deliveries; retrying after a pause')
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
    const { deliveries, found, reached, truncatedAt } = await claim({
      turn,
      now,
      leasedUntil: new Date(now.getTime() + limits.leaseMs),
      deliveriesMax,
      perEndpointMax: limits.perEndpointMax,
      room: this.#concurrency.room(now),
      after,
    })
    for (const delivery of deliveries) this.#begin(delivery)
    if (found > 0 && deliveries.length === 0) await this.#wakeUps.wait(lockedPauseMs)
    const isFull = found >= deliveriesMax
    // One claim walks over a limited number of endpoints. Without this position, endpoints behind many that have nothing due would
    // never be reached.
    this.#after[turn] = isFull ? reached : truncatedAt
    // A pass is not complete if it began in the middle, filled the claim, or lost deliveries to another dispatcher.
    this.#isFullPass[turn] =
      (after === '' || this.#isFullPass[turn]) && !isFull && deliveries.length === found
    return this.#after[turn] !== '' || !this.#isFullPass[turn]
  }

  #roomFor(turn: Turn): number {
    const { inFlightMax, firstAttemptsReserved } = this.#parts.limits
    const room = inFlightMax - this.#inFlight.size
    if (turn === 'first') return room
    return Math.min(room, inFlightMax - firstAttemptsReserved - this.#retriesInFlight)
  }

  #begin(delivery: ClaimedDelivery): void {
    const isRetry = delivery.turn === 'retry'
    this.#concurrency.enter(delivery.endpointRef)
    if (isRetry) this.#retriesInFlight += 1
    let hasTimedOut = false
    const work = this.#deliver(delivery)
      .then((sent) => {
        hasTimedOut = sent.hasTimedOut
      })
      .catch((error: unknown) => {
        // The lease of the delivery expires, and a dispatcher sends it again.
        const { reference } = delivery
        this.#parts.logger.error(
          { err: error, delivery: reference },
          'delivery interrupted by an error; it is sent again when its lease expires',
        )
      })
      .finally(() => {
        this.#inFlight.delete(work)
        this.#concurrency.leave(delivery.endpointRef, hasTimedOut, this.#parts.now())
        if (isRetry) this.#retriesInFlight -= 1
        this.wake()
      })
    this.#inFlight.add(work)
  }

  async #deliver(delivery: ClaimedDelivery): Promise<Sent> {
    const { send, recorder, limits, onAttempted } = this.#parts
    const sent = await send(delivery)
    const endedAt = this.#parts.now()
    const isUnsendable = delivery.body === null
    const facts = { ...sent, isUnsendable, attemptsBefore: delivery.attempts, endedAt }
    const verdict = judgeAttempt(limits.retrySchedule, facts, this.#parts.random())
    onAttempted(delivery, sent, verdict)
    await recorder.add(
      outcomeOf(delivery, sent, verdict, endedAt),
      reportsOf(delivery, sent, verdict),
    )
    if (verdict.kind === 'retry') this.#wakeAt(verdict.dueAt)
    if (sent.secretToPromote !== undefined) await this.#promote(delivery, sent.secretToPromote)
    return sent
  }

  /**
   * Runs after the outcome is stored. If it fails, or the process dies first, the next delivery is refused with 401 or 403 and
   * promotes the secret.
   */
  async #promote(delivery: ClaimedDelivery, secretRef: string): Promise<void> {
    try {
      await this.#parts.promote(delivery, secretRef)
    } catch (error) {
      const { endpointRef: endpoint } = delivery
      this.#parts.logger.warn(
        { err: error, endpoint },
        'could not promote the secret that the receiver uses; the next delivery tries again',
      )
    }
  }

  /** Schedules a wake-up for a retry that is due before the next poll. */
  #wakeAt(dueAt: Date): void {
    const waitMs = dueAt.getTime() - this.#parts.now().getTime()
    if (waitMs >= this.#parts.limits.pollMs || this.#isStopping) return
    setTimeout(() => this.wake(), Math.max(0, waitMs)).unref()
  }
}

/** Returns a random start for the first pass, so that several processes do not compete for the same endpoints. */
function randomEndpointRef(random: number): string {
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

function reportsOf(delivery: ClaimedDelivery, sent: Sent, verdict: Verdict): AttemptReport[] {
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
