import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { Kafka, logLevel, type KafkaConfig, type SASLOptions } from 'kafkajs'
import { EventLogUnavailableError } from '../event-log.ts'
import { onlyBrokerOf, toKafkajsRequest, type KafkajsBroker } from './kafkajs-internals.ts'
import type { WireRequest } from './wire/requests.ts'

/** How to reach the brokers. */
export type KafkaConnection = {
  /** `host:port` of some of them; the others are learned from these. */
  readonly brokers: readonly string[]
  readonly sasl?: SASLOptions
  readonly tls?: ConnectionOptions
}

/** A broker that does not answer within this time is taken for dead, and what it was asked is asked again. */
const requestTimeoutMs = 5_000
const connectTimeoutMs = 2_000

/** One broker at one address, connected when it is needed. */
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

  /** Rejects when the broker cannot be reached or does not answer in time. */
  async send<Response>(request: WireRequest<Response>): Promise<Response> {
    const { connectionPool } = await this.broker()
    // Always the first of the two connections: kafkajs guards that one alone against being opened twice.
    const connection = await connectionPool.getConnection(0)
    return connection.send(toKafkajsRequest(request))
  }

  /** Whatever is under way is rejected. */
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
    // Whoever sends knows how long to try, and whether a second time is safe.
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
    socketFactory: ({ host, port, ssl, onConnect }) => {
      const socket = ssl
        ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
        : connectTcp({ host, port }, onConnect)
      // A small request behind another one must not wait for the acknowledgement of that one's packet.
      socket.setNoDelay(true).setKeepAlive(true, 60_000)
      onSocket(socket)
      return socket
    },
  }
  if (sasl !== undefined) config.sasl = sasl
  if (tls !== undefined) config.ssl = tls
  return new Kafka(config)
}
