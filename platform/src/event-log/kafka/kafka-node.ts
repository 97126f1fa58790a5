import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { Kafka, logLevel, type KafkaConfig, type SASLOptions } from 'kafkajs'
import { EventLogUnavailableError } from '../event-log.ts'
import { onlyBrokerOf, toKafkajsRequest, type KafkajsBroker } from './kafkajs-internals.ts'
import type { WireRequest } from './wire/requests.ts'

/** Connection settings of the brokers. */
export type KafkaConnection = {
  /** `host:port` of some brokers; the others are discovered. */
  readonly brokers: readonly string[]
  readonly sasl?: SASLOptions
  readonly tls?: ConnectionOptions
}

/** A broker that does not answer within this time counts as unavailable, and the request is sent again. */
const requestTimeoutMs = 5_000
const connectTimeoutMs = 2_000

/** One broker at one address. It is connected on first use. */
export class KafkaNode {
  readonly #connect: () => Promise<KafkajsBroker>
  readonly #sockets = new Set<Socket>()
  #isClosed = false

  constructor(connection: KafkaConnection, address: string) {
    const kafka = createKafka(connection, address, (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#connect = onlyBrokerOf(kafka)
  }

  async broker(): Promise<KafkajsBroker> {
    if (this.#isClosed) throw closedError()
    return this.#connect()
  }

  /** Sends a request. Rejects if the broker cannot be reached or does not answer in time. */
  async send<Response>(request: WireRequest<Response>): Promise<Response> {
    const { connectionPool } = await this.broker()
    // Always the first of the two connections: kafkajs prevents only that one from being opened twice.
    const connection = await connectionPool.getConnection(0)
    return connection.send(toKafkajsRequest(request))
  }

  /** Closes the connections. Open requests are rejected. */
  close(): void {
    this.#isClosed = true
    for (const socket of this.#sockets) socket.destroy(closedError())
  }
}

export function closedError(): EventLogUnavailableError {
  return new EventLogUnavailableError('The event log is closed.')
}

function createKafka(
  { sasl, tls }: KafkaConnection,
  address: string,
  onSocket: (socket: Socket) => void,
): Kafka {
  const config: KafkaConfig = {
    clientId: 'tollgate',
    brokers: [address],
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // The caller decides how long to retry, and whether a retry is safe.
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
    socketFactory: ({ host, port, ssl, onConnect }) => {
      const socket = ssl
        ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
        : connectTcp({ host, port }, onConnect)
      // Disables Nagle's algorithm, so that a small request does not wait for the acknowledgement of the previous packet.
      socket.setNoDelay(true).setKeepAlive(true, 60_000)
      onSocket(socket)
      return socket
    },
  }
  if (sasl !== undefined) config.sasl = sasl
  if (tls !== undefined) config.ssl = tls
  return new Kafka(config)
}
