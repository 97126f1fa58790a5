import type { Redis } from 'ioredis'
import { WakeUps } from '../../waiting/wake-ups.ts'

/** Milliseconds a waiter sleeps at most, also while it is told of every batch: a message can be lost. */
const listeningSleepMsMax = 100
/** The same while nobody tells it. */
const deafSleepMsMax = 10
const reconnectAfterMs = 200
/** Within which a waiter's own look at Redis has its answer. */
const lookMs = 5

/**
 * Wakes those who wait for a batch when Redis announces one. It listens from the first waiter on. When it cannot, the
 * waiters look for themselves every few milliseconds, which any waiter may do at any time.
 */
export class ApplyListener {
  readonly #createConnection: () => Redis | undefined
  readonly #channel: string
  readonly #wakeUps = new WakeUps(lookMs)
  #connection: Redis | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #isStarted = false
  #isListening = false
  #isClosed = false

  /** `createConnection` gives a connection that does not reconnect by itself, or undefined while there is none to be had. */
  constructor(createConnection: () => Redis | undefined, channel: string) {
    this.#createConnection = createConnection
    this.#channel = channel
  }

  wait(timeoutMs: number): Promise<void> {
    if (!this.#isStarted) {
      this.#isStarted = true
      this.#listen()
    }
    const sleepMsMax = this.#isListening ? listeningSleepMsMax : deafSleepMsMax
    return this.#wakeUps.wait(Math.min(timeoutMs, sleepMsMax))
  }

  wake(): void {
    this.#wakeUps.wake()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#reconnecting)
    this.#connection?.disconnect()
    this.#wakeUps.wake()
  }

  #listen(): void {
    if (this.#isClosed) return
    const connection = this.#createConnection()
    if (connection === undefined) {
      this.#listenLater()
      return
    }
    this.#connection = connection
    // What went wrong is told by the end of the connection.
    connection.on('error', () => undefined)
    connection.on('message', () => this.#wakeUps.wake())
    connection.once('end', () => {
      this.#isListening = false
      this.#listenLater()
    })
    connection.subscribe(this.#channel).then(
      () => {
        this.#isListening = true
        // Batches may have been applied before Redis had the subscription.
        this.#wakeUps.wake()
      },
      () => connection.disconnect(),
    )
  }

  #listenLater(): void {
    if (this.#isClosed) return
    this.#reconnecting = setTimeout(() => this.#listen(), reconnectAfterMs)
    this.#reconnecting.unref()
  }
}
