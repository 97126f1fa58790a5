import type { Socket } from 'node:net'
import { Client, type buildConnector, type Dispatcher } from 'undici'
import { OutboundError } from './outbound-error.ts'

/** What is known of the connection that a request went over. */
export type Connection = {
  /** The address at its other end. */
  readonly address: string | null
  /** Milliseconds that it took to look its name up, to connect and to agree on TLS. */
  readonly connectMs: number
  /** Requests that it was taken for. */
  requests: number
}

export type TakenOptions = Dispatcher.DispatchOptions & {
  /** Told which client takes the request. Its connection is known once the request is started. */
  readonly onTaken?: (client: ConnectionClient) => void
}

/**
 * A client of undici that tells of its one connection, of which undici itself says nothing to who sends a request. It
 * closes one that brings more bytes for a request than any answer has: what is no part of headers or body, undici reads
 * without end.
 */
export class ConnectionClient extends Client {
  connection: Connection | undefined
  #socket: Socket | undefined
  /** Of the socket, when the request under way was begun. */
  #bytesBefore = 0

  constructor(
    origin: URL,
    options: Client.Options,
    connect: buildConnector.connector,
    wireBytesMax: number,
  ) {
    const connectAndTell: buildConnector.connector = (target, callback) => {
      const begunAt = performance.now()
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        const connectMs = performance.now() - begunAt
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
