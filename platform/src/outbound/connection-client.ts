import type { Socket } from 'node:net'
import { Client, type buildConnector, type Dispatcher } from 'undici'
import { OutboundError } from './outbound-error.ts'

/** The connection that a request used. */
export type Connection = {
  /** IP address of the remote side. */
  readonly address: string | null
  /** Milliseconds for DNS lookup, connecting and the TLS handshake. */
  readonly connectMs: number
  /** Number of requests that have used the connection. */
  requests: number
}

export type TakenOptions = Dispatcher.DispatchOptions & {
  /** Called with the client that takes the request. Its connection is known once the request has started. */
  readonly onTaken?: (client: ConnectionClient) => void
}

/**
 * An undici client that exposes its single connection, which undici does not. It closes the connection if a response brings more
 * bytes than any allowed response has, because undici reads bytes outside of headers and body without limit.
 */
export class ConnectionClient extends Client {
  connection: Connection | undefined
  #socket: Socket | undefined
  /** Bytes read by the socket before the current request. */
  #bytesBefore = 0

  constructor(
    origin: URL,
    options: Client.Options,
    connect: buildConnector.connector,
    wireBytesMax: number,
  ) {
    const connectAndTell: buildConnector.connector = (target, callback) => {
      const startedAt = performance.now()
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        const connectMs = performance.now() - startedAt
        this.connection = { address: socket.remoteAddress ?? null, connectMs, requests: 0 }
        this.#socket = socket
        this.#bytesBefore = socket.bytesRead
        socket.on('readable', () => {
          if (socket.bytesRead - this.#bytesBefore <= wireBytesMax) return
          socket.destroy(new OutboundError('too-large', 'The address answered with too much'))
        })
        callback(null, socket)
      })
    }
    super(origin, { ...options, connect: connectAndTell })
  }

  override dispatch(options: TakenOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.onTaken?.(this)
    this.#bytesBefore = this.#socket?.bytesRead ?? 0
    return super.dispatch(options, handler)
  }
}
