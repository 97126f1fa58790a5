import { setTimeout as sleep } from 'node:timers/promises'
import { serviceTokenOf } from '@tollgate/domain/api-keys/service-token'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Registry } from '@tollgate/platform/observability/metrics'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { customerOwnersPath } from '@tollgate/schemas/http/customer-owners'
import type { NatsConnection } from '@nats-io/transport-node'
import type { CallControlPlane } from '../domain/call-control-plane.ts'
import type { MetersCache } from '../hot-state/meters-cache.ts'
import type { CustomerTimes } from '../hot-state/customer-times.ts'
import type { UsageRecordingParts } from '../recording/record-usage.ts'
import { BadItemLog } from './bad-item-log.ts'
import { BusCounts, registerBusMetrics } from './bus-metrics.ts'
import { recordMessages } from './bus-recorder.ts'
import type { BusConfig } from './bus-settings.ts'
import { consumeStream } from './consume-stream.ts'
import { consumeSubjects } from './consume-subjects.ts'
import type { ConsumerParts, RunningConsumer } from './consumer-parts.ts'
import { CustomerOwners } from './customer-owners.ts'
import { HeldMessages } from './held-messages.ts'
import { connectToNats } from './nats-connection.ts'

export type BusParts = UsageRecordingParts & {
  readonly meters: MetersCache
  readonly nowMs: () => number
  readonly randomReference: (nowMs: number) => string
  readonly customerTimes: CustomerTimes
  readonly callControlPlane: CallControlPlane
  readonly serviceSecret: string
  readonly logger: Logger
  readonly metrics: Registry
}

export type Bus = Service & { readonly health: HealthCheck }

/**
 * Returns a service that consumes usage from the internal message bus. It starts even if the bus cannot be reached, and keeps
 * trying to connect. While the bus is away, readiness is `degraded` and HTTP is still served.
 */
export function createBus(config: BusConfig, parts: BusParts): Bus {
  const consumerParts = createConsumerParts(config, parts)
  const loop = new BusLoop(config, consumerParts, parts.logger)
  registerBusMetrics(parts.metrics, consumerParts.counts, {
    isConnected: () => loop.fault === undefined,
    messagesInFlight: () => consumerParts.held.count,
    bytesInFlight: () => consumerParts.held.bytes,
  })
  return {
    health: {
      name: 'message-bus',
      onlyDegrades: true,
      check: () =>
        loop.fault === undefined ? Promise.resolve() : Promise.reject(new Error(loop.fault)),
    },
    start: () => Promise.resolve(loop.start()),
    stop: () => loop.stop(),
  }
}

function createConsumerParts(config: BusConfig, parts: BusParts): ConsumerParts {
  const counts = new BusCounts()
  const { logger } = parts
  const owners = new CustomerOwners({
    callControlPlane: parts.callControlPlane,
    token: serviceTokenOf(parts.serviceSecret, customerOwnersPath),
    providerId: config.natsProvider === '' ? undefined : config.natsProvider,
    environment: config.natsEnvironment === 'any' ? undefined : config.natsEnvironment,
    freshMs: config.natsCustomersFreshMs,
    customersMax: config.natsCustomersMax,
  })
  const recorderParts = { ...parts, owners, counts, badItems: new BadItemLog(logger, counts) }
  return {
    config,
    subjects: [`${config.natsService}.meter.record`, `${config.natsService}.meter.recordBulk`],
    counts,
    held: new HeldMessages({
      countMax: config.natsMessagesInFlightMax,
      bytesMax: config.natsBytesInFlightMax,
    }),
    record: (messages) => recordMessages(recorderParts, messages),
    nowMs: parts.nowMs,
    onError: (error) => logger.error({ err: error }, 'the message bus reported an error'),
  }
}

/** Longest time, in milliseconds, by which a server that does not answer can delay the stop. */
const flushMsMax = 1_000

const disconnected = 'disconnected'

class BusLoop {
  readonly #config: BusConfig
  readonly #parts: ConsumerParts
  readonly #logger: Logger
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #connection: NatsConnection | undefined
  #consumer: RunningConsumer | undefined
  #fault: string | undefined = 'the message bus is not connected yet'

  constructor(config: BusConfig, parts: ConsumerParts, logger: Logger) {
    this.#config = config
    this.#parts = parts
    this.#logger = logger
  }

  /** The reason why no messages are consumed, or undefined if they are. */
  get fault(): string | undefined {
    return this.#fault
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#consumer?.stop(this.#config.shutdownGraceMs)
    await this.#close()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        const connection = await connectToNats(this.#config)
        this.#connection = connection
        void this.#watch(connection)
        await this.#consumeUntilClosed(connection)
      } catch (error) {
        this.#report(error)
      }
      await this.#close()
      await this.#pause()
    }
  }

  /** Sends pending acknowledgements before it closes the connection, unless the server does not answer. */
  async #close(): Promise<void> {
    const connection = this.#connection
    if (connection === undefined || connection.isClosed()) return
    const flushed = connection.flush().catch(() => undefined)
    await Promise.race([flushed, sleep(flushMsMax, undefined, { ref: false })])
    await connection.close()
  }

  /** Creates the consumer again if it ends while the connection stays open: its stream may have been deleted. */
  async #consumeUntilClosed(connection: NatsConnection): Promise<void> {
    while (!this.#stopping.signal.aborted && !connection.isClosed()) {
      try {
        const consume = this.#config.natsMode === 'jetstream' ? consumeStream : consumeSubjects
        this.#consumer = await consume(connection, this.#parts)
        this.#setFault(undefined)
        await this.#consumer.ended
        // The server ended the consumer, for example because it revoked a permission.
        throw new Error('the server ended the consumption of messages')
      } catch (error) {
        this.#report(error)
        await this.#pause()
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#setFault(disconnected)
      if (type === 'reconnect' && this.#fault === disconnected) this.#setFault(undefined)
    }
  }

  #report(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    this.#setFault(error instanceof Error ? error.message : String(error))
  }

  #setFault(fault: string | undefined): void {
    if (fault === this.#fault) return
    this.#fault = fault
    const { natsMode: mode } = this.#config
    if (fault === undefined) this.#logger.info({ mode }, 'usage is consumed from the message bus')
    else
      this.#logger.warn(
        { mode, fault },
        'usage cannot be consumed from the message bus, connecting again',
      )
  }

  async #pause(): Promise<void> {
    const { signal } = this.#stopping
    await sleep(this.#config.natsReconnectMs, undefined, { signal }).catch(() => undefined)
  }
}
