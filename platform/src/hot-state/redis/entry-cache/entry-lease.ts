import { randomBytes } from 'node:crypto'
import type { ChangedEntries } from './entry-announcer.ts'
import { Subscription, type SubscriptionOptions } from '../subscription.ts'
import type { RunLeaseScript } from './lease-script.ts'
import { endLeaseScript, noteSeenScript, renewLeaseScript } from './scripts.ts'

export type LeaseOptions = Pick<SubscriptionOptions, 'createConnection' | 'channel'> & {
  readonly run: RunLeaseScript
  /** Length of the lease in milliseconds. */
  readonly leaseMs: number
  /** Replicas that must be up to date for a renewal, if the server has any. */
  readonly replicasMin: number
  readonly onChanged: (changed: ChangedEntries) => void
  /** Called when changes may have been missed. */
  readonly onMissed: () => void
}

const renewalsPerLease = 4
/** Wait for announcements that are on their way when a renewal reports a later one. */
const onTheWayMs = 50
/** The lease ends earlier here than in Redis, because the clocks of two machines differ in speed. */
const safetyRatio = 0.9

/**
 * The right of this process to use cached entries. A process that changes an entry waits until all processes with a lease have
 * noticed, or until their leases have ended. The lease is measured from when a renewal was sent, so it ends here before it ends in
 * Redis, also for a process that was paused.
 *
 * Changes are numbered. If a number is missing, or the server is another one, or the lease had ended, then changes may have been
 * missed, and `onMissed` is called before the lease is valid again.
 */
export class EntryLease {
  readonly #options: LeaseOptions
  readonly #reader = randomBytes(12).toString('hex')
  /** End of the lease, in milliseconds of `performance.now()`. */
  #untilMs = Number.NEGATIVE_INFINITY
  #runId = ''
  #seen = 0
  readonly #subscription: Subscription
  #renewing: NodeJS.Timeout | undefined
  #isRenewing = false
  #isNoting = false
  #isClosed = false

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#subscription = new Subscription({
      ...options,
      onMessage: (text) => this.#notice(text),
      onListening: () => this.#renewNow(),
    })
  }

  isValid(): boolean {
    return performance.now() < this.#untilMs
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#untilMs = Number.NEGATIVE_INFINITY
    clearTimeout(this.#renewing)
    this.#subscription.close()
    // The lease is given back, so that no change waits until it would have ended.
    await this.#options.run(endLeaseScript, [this.#reader]).catch(() => undefined)
  }

  #renewNow(): void {
    if (this.#isRenewing || this.#isClosed) return
    this.#isRenewing = true
    clearTimeout(this.#renewing)
    this.#renew()
      // If no renewal is answered, the lease ends, and every entry is read from Redis.
      .catch(() => undefined)
      .finally(() => {
        this.#isRenewing = false
        if (this.#isClosed) return
        const pauseMs = this.#options.leaseMs / renewalsPerLease
        this.#renewing = setTimeout(() => this.#renewNow(), pauseMs)
        this.#renewing.unref()
      })
  }

  async #renew(): Promise<void> {
    const { run, leaseMs, replicasMin } = this.#options
    const sentAtMs = performance.now()
    const seenBefore = this.#seen
    const args = [
      this.#reader,
      `${leaseMs}`,
      this.#runId || 'none',
      `${seenBefore}`,
      `${replicasMin}`,
    ]
    const answer = (await run(renewLeaseScript, args)) as [string, number, number] | null
    if (answer === null || this.#isClosed) return
    const [runId, sequence, isHeld] = answer
    const isUnbroken = runId === this.#runId && isHeld === 1 && this.isValid()
    if (!isUnbroken || sequence < seenBefore) {
      this.#startAt(runId, sequence)
    } else if (sequence > this.#seen) {
      setTimeout(() => this.#requireSeen(runId, sequence), onTheWayMs).unref()
    }
    this.#untilMs = Math.max(this.#untilMs, sentAtMs + leaseMs * safetyRatio)
  }

  /** Forgets everything that was cached, which makes all changes up to this number noticed. */
  #startAt(runId: string, sequence: number): void {
    this.#options.onMissed()
    this.#runId = runId
    this.#seen = sequence
    this.#noteSeen()
  }

  #requireSeen(runId: string, sequence: number): void {
    if (runId === this.#runId && this.#seen < sequence) this.#startAt(runId, sequence)
  }

  #notice(text: string): void {
    const [, runId, number, change] = /^(\w+) (\d+) (.*)$/s.exec(text) ?? []
    if (runId === undefined || this.#runId === '') return
    const sequence = Number(number)
    if (runId !== this.#runId || sequence > this.#seen + 1) {
      this.#startAt(runId, sequence)
      return
    }
    this.#options.onChanged(JSON.parse(change!) as ChangedEntries)
    // Changes up to the number of a renewal are noticed before they arrive.
    if (sequence <= this.#seen) return
    this.#seen = sequence
    this.#noteSeen()
  }

  /** Tells the waiting processes. One call is sent at a time, and contains the last number. */
  #noteSeen(): void {
    if (this.#isNoting || this.#isClosed) return
    this.#isNoting = true
    const [runId, seen] = [this.#runId, this.#seen]
    this.#options
      .run(noteSeenScript, [this.#reader, runId, `${seen}`])
      // The next renewal tells it.
      .catch(() => undefined)
      .finally(() => {
        this.#isNoting = false
        if (runId !== this.#runId || seen !== this.#seen) this.#noteSeen()
      })
  }
}
