import { setTimeout as sleep } from 'node:timers/promises'
import { AwayError, LostUsageError, RefusedError } from './errors.ts'
import type { TollgateApi } from './tollgate-api.ts'
import type { UsageEvent } from './usage-event.ts'

export type QueueOptions = {
  /** Maximum records in the queue. */
  readonly eventsMax: number
  /** Maximum records in one request. Tollgate accepts 1,000. */
  readonly batchMax: number
  readonly timeoutMs: number
  readonly onError: (error: Error) => void
  /** Called with a hold whose record was a duplicate: no record ends it, so it must be released. */
  readonly onUnusedHold: (reservationId: string) => void
}

const firstPauseMs = 100
const pauseMsMax = 10_000

/**
 * Usage records in memory that wait for delivery. One request is open at a time; records that arrive in the meantime go into the
 * next one. A failed request is sent again with the same idempotency keys, so each record counts once.
 */
export class UsageQueue {
  readonly #api: TollgateApi
  readonly #options: QueueOptions
  readonly #stop = new AbortController()
  #events: UsageEvent[] = []
  #isRunning = false
  #waiters: (() => void)[] = []

  constructor(api: TollgateApi, options: QueueOptions) {
    this.#api = api
    this.#options = options
  }

  get size(): number {
    return this.#events.length
  }

  add(event: UsageEvent): void {
    if (this.#stop.signal.aborted || this.#events.length >= this.#options.eventsMax) {
      const reason = this.#stop.signal.aborted ? 'the paywall is closed' : 'the queue is full'
      this.#options.onError(new LostUsageError(`A usage record is lost: ${reason}.`, [event]))
      return
    }
    this.#events.push(event)
    if (!this.#isRunning) void this.#run()
  }

  /** Resolves when the queue is empty. */
  async flush(): Promise<void> {
    if (this.#events.length === 0) return
    await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  /** Ends delivery and returns the records that were not delivered. */
  abandon(): readonly UsageEvent[] {
    this.#stop.abort()
    const left = this.#events
    this.#events = []
    this.#resolveWaiters()
    return left
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    let pauseMs = firstPauseMs
    while (this.#events.length > 0 && !this.#stop.signal.aborted) {
      const batch = this.#events.slice(0, this.#options.batchMax)
      try {
        await this.#deliver(batch)
        pauseMs = firstPauseMs
        if (!this.#stop.signal.aborted) this.#events = this.#events.slice(batch.length)
      } catch (error) {
        // An outage is reported once, not with each attempt.
        if (pauseMs === firstPauseMs) this.#options.onError(error as Error)
        const { signal } = this.#stop
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
        pauseMs = Math.min(pauseMs * 2, pauseMsMax)
      }
    }
    this.#isRunning = false
    this.#resolveWaiters()
  }

  /**
   * Sends a batch. Tollgate refuses a batch as a whole, so a refused batch is split until the invalid record is found; the other
   * records are delivered.
   */
  async #deliver(batch: readonly UsageEvent[]): Promise<void> {
    try {
      const body = { events: batch }
      const answer = await this.#api.post('/v1/sdk/usages/bulk', body, this.#options.timeoutMs)
      this.#endUnusedHolds(batch, answer)
    } catch (error) {
      if (!(error instanceof RefusedError) || ![400, 413, 422].includes(error.status)) throw error
      if (batch.length === 1) {
        const message = 'A usage record is lost: Tollgate does not accept it.'
        this.#options.onError(new LostUsageError(message, batch, { cause: error }))
        return
      }
      const half = Math.ceil(batch.length / 2)
      await this.#deliver(batch.slice(0, half))
      await this.#deliver(batch.slice(half))
    }
  }

  #endUnusedHolds(batch: readonly UsageEvent[], answer: unknown): void {
    const { results } = answer as { results?: readonly Result[] }
    if (!Array.isArray(results)) throw new AwayError('Tollgate answered without results.', true)
    results.forEach((result: Result, at) => {
      const reservationId = batch[at]?.reservationId
      if (result.creditDebit?.reason === 'duplicate' && reservationId !== undefined) {
        this.#options.onUnusedHold(reservationId)
      }
    })
  }

  #resolveWaiters(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}

type Result = { readonly creditDebit?: { readonly reason?: string } }
