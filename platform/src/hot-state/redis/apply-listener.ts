import type { Redis } from 'ioredis'
import { WakeUps } from '../../waiting/wake-ups.ts'

/** Maximum wait while listening, in milliseconds, because a message may be lost. */
const listeningSleepMsMax = 100
/** Maximum wait while not listening, in milliseconds. */
const unsubscribedSleepMsMax = 10
const reconnectAfterMs = 200
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
  #connection: Redis | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #isStarted = false
  #isListening = false
  #isClosed = false

  /** `createConnection` returns a connection without automatic reconnects, or undefined if none is available. */
  constructor(createConnection: () => Redis | undefined, channel: string) {
    this.#createConnection = createConnection
    this.#channel = channel
  }

  wait(timeoutMs: number): Promise<void> {
    if (!this.#isStarted) {
      this.#isStarted = true
      this.#listen()
    }
    const sleepMsMax = this.#isListening ? listeningSleepMsMax : unsubscribedSleepMsMax
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
    // Errors are handled when the connection ends.
    connection.on('error', () => undefined)
    connection.on('message', () => this.#wakeUps.wake())
    connection.once('end', () => {
      this.#isListening = false
      this.#listenLater()
    })
    connection.subscribe(this.#channel).then(
      () => {
        this.#isListening = true
        // Batches may have been applied before the subscription was active.
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
