import { randomBytes } from 'node:crypto'
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, headers, type NatsConnection } from '@nats-io/transport-node'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Environment } from '@tollgate/schemas/environment'
import {
  customerOwnersPath,
  type CustomerOwnersInput,
  type CustomerOwnersResponse,
} from '@tollgate/schemas/http/customer-owners'
import { expect } from 'vitest'
import { Installation, providerId } from './installation.ts'

export const otherProviderId = 'prv_OTHERPROVIDER'

type Owner = { readonly providerId: string; readonly environment: Environment }

/** Responses of the control plane. External references are found only by requests that name the provider. */
const customers: Readonly<Record<string, readonly Owner[]>> = {
  cus_OWN: [{ providerId, environment: 'sandbox' }],
  cus_OWN2: [{ providerId, environment: 'sandbox' }],
  cus_LIVE: [{ providerId, environment: 'live' }],
  cus_OTHER: [{ providerId: otherProviderId, environment: 'sandbox' }],
  'user-1': [{ providerId, environment: 'sandbox' }],
  'user-2': [
    { providerId, environment: 'sandbox' },
    { providerId, environment: 'live' },
  ],
}

export type BusOptions = {
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: (log: EventLog) => EventLog
}

/** Runs ingest on the NATS server of the test run, with its own service name, stream and consumer. */
export class BusUnderTest {
  readonly installation: Installation
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly name: string
  readonly mode: 'jetstream' | 'subjects'
  isControlPlaneAway = false

  static async start(
    mode: 'jetstream' | 'subjects',
    options: BusOptions = {},
  ): Promise<BusUnderTest> {
    const servers = process.env['TOLLGATE_TEST_NATS_URL']!
    const connection = await connect({ servers })
    const name = `t${randomBytes(6).toString('hex')}`
    const installation = await Installation.start({
      settings: {
        TOLLGATE_NATS_URL: servers,
        TOLLGATE_NATS_MODE: mode,
        TOLLGATE_NATS_SERVICE: name,
        TOLLGATE_NATS_STREAM: name,
        TOLLGATE_NATS_GROUP: name,
        TOLLGATE_NATS_RECONNECT_MS: '100',
        TOLLGATE_NATS_RETRY_MS_MAX: '1000',
        TOLLGATE_SHUTDOWN_GRACE_MS: '5000',
        ...options.settings,
      },
      ...(options.log === undefined ? {} : { log: options.log }),
    })
    const bus = new BusUnderTest(installation, connection, await jetstreamManager(connection), {
      name,
      mode,
    })
    await installation.publishMeters({ tokens: 'active', old: 'archived' })
    installation.controlPlane = (request, response) => void bus.#answer(request, response)
    await expect.poll(() => bus.metric('connected')).toBe(1)
    return bus
  }

  private constructor(
    installation: Installation,
    connection: NatsConnection,
    manager: JetStreamManager,
    { name, mode }: Pick<BusUnderTest, 'name' | 'mode'>,
  ) {
    this.installation = installation
    this.connection = connection
    this.manager = manager
    this.name = name
    this.mode = mode
  }

  async #answer(
    request: Parameters<Installation['controlPlane']>[0],
    response: Parameters<Installation['controlPlane']>[1],
  ): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.url !== customerOwnersPath || this.isControlPlaneAway) {
      response.writeHead(503).end()
      return
    }
    const input = JSON.parse(Buffer.concat(chunks).toString()) as CustomerOwnersInput
    const owners = input.references.map((reference) => {
      if (input.providerId === undefined && !reference.startsWith('cus_')) return []
      const found = customers[reference] ?? []
      return found.filter((each) => (input.providerId ?? each.providerId) === each.providerId)
    })
    const body: CustomerOwnersResponse = { owners }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  /** Publishes one item, or a bulk of several items, as one message. */
  async publish(body: object | string | Uint8Array, messageId?: string): Promise<void> {
    const isBulk = typeof body === 'object' && 'events' in body
    await this.publishTo(isBulk ? 'recordBulk' : 'record', body, messageId)
  }

  async publishTo(
    kind: 'record' | 'recordBulk',
    body: object | string | Uint8Array,
    messageId?: string,
  ): Promise<void> {
    const subject = `${this.name}.meter.${kind}`
    const isPlain = typeof body === 'string' || body instanceof Uint8Array
    const payload = isPlain ? body : JSON.stringify(body)
    if (this.mode === 'jetstream') {
      const options = messageId === undefined ? {} : { msgID: messageId }
      await jetstream(this.connection).publish(subject, payload, options)
      return
    }
    const named = headers()
    if (messageId !== undefined) named.set('Nats-Msg-Id', messageId)
    this.connection.publish(subject, payload, { headers: named })
    await this.connection.flush()
  }

  /** Returns the value of a gauge or counter of the bus. For a counter, `label` selects one label value. */
  async metric(name: string, label?: string): Promise<number> {
    const { adminPort } = this.installation.ingest
    const page = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    const start = label === undefined ? `tollgate_bus_${name}` : `tollgate_bus_${name}_total{`
    const line = page
      .split('\n')
      .find(
        (each) => each.startsWith(start) && (label === undefined || each.includes(`"${label}"`)),
      )
    return line === undefined ? 0 : Number(line.split(' ').at(-1))
  }

  /** Waits until `count` messages have the outcome `end`. */
  async untilMessages(count: number, end = 'acknowledged'): Promise<void> {
    await expect.poll(() => this.metric('messages', end), { timeout: 30_000 }).toBe(count)
  }

  async consumerInfo() {
    return await this.manager.consumers.info(this.name, this.name)
  }

  async remove(): Promise<void> {
    await this.installation.remove()
    await this.manager.streams.delete(this.name).catch(() => undefined)
    await this.connection.close()
  }
}
