import { Client, type buildConnector, type Dispatcher } from 'undici'

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

/** A client of undici that tells of its one connection, of which undici itself says nothing to who sends a request. */
export class ConnectionClient extends Client {
  connection: Connection | undefined

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    const connectAndTell: buildConnector.connector = (target, callback) => {
      const begunAt = performance.now()
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        const connectMs = performance.now() - begunAt
        this.connection = { address: socket.remoteAddress ?? null, connectMs, requests: 0 }
        callback(null, socket)
      })
    }
    super(origin, { ...options, connect: connectAndTell })
  }

  override dispatch(options: TakenOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.onTaken?.(this)
    return super.dispatch(options, handler)
  }
}
