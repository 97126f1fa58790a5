import type { Redis } from 'ioredis'
import { WakeUps } from '../../waiting/wake-ups.ts'
import { Subscription } from './subscription.ts'

/** Maximum wait while listening, in milliseconds, because a message may be lost. */
const listeningSleepMsMax = 100
/** Maximum wait while not listening, in milliseconds. */
const unsubscribedSleepMsMax = 10
/** How long a read of Redis takes, in milliseconds. */
const checkMs = 5

/**
 * Wakes waiting readers when Redis announces a batch. It subscribes at the first wait. Without a subscription, waiters check for
 * themselves every few milliseconds.
 */
export class ApplyListener {
  readonly #createConnection: () => Redis | undefined
  readonly #channel: string
  readonly #wakeUps = new WakeUps(checkMs)
  #subscription: Subscription | undefined
  #isClosed = false

  /** `createConnection` returns a connection without automatic reconnects, or undefined if none is available. */
  constructor(createConnection: () => Redis | undefined, channel: string) {
    this.#createConnection = createConnection
    this.#channel = channel
  }

  wait(timeoutMs: number): Promise<void> {
    if (!this.#isClosed) this.#subscription ??= this.#subscribe()
    const isListening = this.#subscription?.isListening === true
    const sleepMsMax = isListening ? listeningSleepMsMax : unsubscribedSleepMsMax
    return this.#wakeUps.wait(Math.min(timeoutMs, sleepMsMax))
  }

  wake(): void {
    this.#wakeUps.wake()
  }

  close(): void {
    this.#isClosed = true
    this.#subscription?.close()
    this.#wakeUps.wake()
  }

  #subscribe(): Subscription {
    return new Subscription({
      createConnection: this.#createConnection,
      channel: this.#channel,
      onMessage: () => this.#wakeUps.wake(),
      // Batches may have been applied before the subscription was active.
      onListening: () => this.#wakeUps.wake(),
    })
  }
}
