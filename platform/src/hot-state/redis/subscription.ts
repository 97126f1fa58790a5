import type { Redis } from 'ioredis'

const reconnectAfterMs = 200

export type SubscriptionOptions = {
  /** Returns a connection without automatic reconnects, or undefined if none is available. */
  readonly createConnection: () => Redis | undefined
  readonly channel: string
  readonly onMessage: (text: string) => void
  /** Called whenever the subscription becomes active. Messages before that were missed. */
  readonly onListening: () => void
}

/** A subscription to a channel of Redis that is made again whenever its connection ends. */
export class Subscription {
  readonly #options: SubscriptionOptions
  #connection: Redis | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #isListening = false
  #isClosed = false

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#listen()
  }

  get isListening(): boolean {
    return this.#isListening
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#reconnecting)
    this.#connection?.disconnect()
  }

  #listen(): void {
    if (this.#isClosed) return
    const { createConnection, channel, onMessage, onListening } = this.#options
    const connection = createConnection()
    if (connection === undefined) {
      this.#listenLater()
      return
    }
    this.#connection = connection
    // Errors are handled when the connection ends.
    connection.on('error', () => undefined)
    connection.on('message', (_channel, text) => onMessage(text))
    connection.once('end', () => {
      this.#isListening = false
      this.#listenLater()
    })
    connection.subscribe(channel).then(
      () => {
        this.#isListening = true
        onListening()
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
