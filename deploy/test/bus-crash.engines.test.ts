import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openEventLogForWriting } from '@tollgate/platform/event-log/open-event-log'
import {
  eventLogSettings,
  eventLogWriterSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { createLogger } from '@tollgate/platform/observability/logger'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import type { CustomerOwnersInput } from '@tollgate/schemas/http/customer-owners'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Engine, EngineOptions } from '../../tools/src/engines/engine.ts'
import { startKafka } from '../../tools/src/engines/kafka.ts'
import { startNats } from '../../tools/src/engines/nats.ts'
import { planFreePorts, type PortPlan } from '../../tools/src/engines/port-plan.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { missingParts, prepareParts, type EngineParts } from './engines/engine-parts.ts'
import { findMissingEngines } from './engines/find-missing-engines.ts'

/*
 * Records usage on JetStream while consumers, the NATS server and the log are killed. `npm run test:bus` runs all of it, with its
 * own broker, which is also killed.
 */

const configured = process.env['TOLLGATE_TEST_BUS_MESSAGES']
const isWhole = configured !== undefined
const messagesTotal = Number(configured ?? 3_000)
const rounds = isWhole ? 4 : 1
const bulkEvery = 10
const bulkItems = 3
const inFlight = 256
const partitionCount = 4
const missing = await findMissingEngines()
const isLeftOut = missing.isLeftOut || missingParts('TOLLGATE_TEST_REDIS_URL').length > 0

const customers = Array.from({ length: 20 }, (_, number) => {
  const isSandbox = number % 2 === 0
  const environment: Environment = isSandbox ? 'sandbox' : 'live'
  return { customerRef: `cus_${number}`, environment, providerId: isSandbox ? 'prv_1' : 'prv_2' }
})

let folder: TemporaryFolder
let options: EngineOptions
let ports: PortPlan
let nats: Engine
let kafka: Engine | undefined
let parts: EngineParts
let settings: Record<string, string>
let controlPlane: Server
let log: EventLog
let hotState: HotState
let connection: NatsConnection
let manager: JetStreamManager
let projection: ChildProcess
const ingest: ChildProcess[] = []

beforeAll(async () => {
  if (isLeftOut) return
  folder = await makeTemporaryFolder('bus-crash')
  options = { root: folder.path, print: () => {}, endsWithParent: true, isShortLived: true }
  const planned = await planFreePorts()
  ports = { ...planned, kafka: planned.kafka.slice(0, 1) }
  nats = await startNats(options, ports.nats)
  if (isWhole) kafka = await startKafka(options, ports.kafka)
  parts = prepareParts('TOLLGATE_TEST_REDIS_URL')
  settings = {
    ...parts.settings,
    ...(kafka === undefined ? {} : { TOLLGATE_KAFKA_BROKERS: kafka.address }),
    TOLLGATE_LOG_PARTITIONS: String(partitionCount),
    TOLLGATE_LOG_LEVEL: 'error',
  }
  controlPlane = await startControlPlane()
  await openParts()
  connection = await connect({
    servers: nats.address,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  })
  manager = await jetstreamManager(connection)
  projection = await startProcess('@tollgate/aggregator/main', {
    TOLLGATE_PROJECTION: 'counters',
    // ClickHouse is never queried, because the counters are not lost.
    TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
  })
}, 300_000)

afterAll(async () => {
  if (isLeftOut) return
  for (const child of ingest) await kill(child)
  await kill(projection)
  await connection.close()
  await log.close()
  await hotState.close()
  controlPlane.close()
  if (kafka === undefined) await parts.remove()
  await kafka?.stop()
  await nats.stop()
  await folder.remove()
})

/** Starts a control plane that knows the customers. The real route has its own tests. */
async function startControlPlane(): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { references } = JSON.parse(Buffer.concat(chunks).toString()) as CustomerOwnersInput
      const owners = references.map((reference) =>
        customers.filter(({ customerRef }) => customerRef === reference),
      )
      response.writeHead(200).end(JSON.stringify({ owners }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function openParts(): Promise<void> {
  const declared = {
    ...eventLogSettings,
    ...eventLogWriterSettings,
    ...hotStateSettings,
    dataDir: dataDirSetting,
  }
  const config = readSettings(declared, settings)
  const logger = createLogger('test', 'fatal')
  const topics = environments.map(usageTopic)
  log = (await openEventLogForWriting(config, { topics, values: meterEventValues, logger })).log
  hotState = await openHotState(config, 'projection', logger)
  const requests = { reference: 'mtr_requests', status: 'active' } as const
  const meters = JSON.stringify({ meters: { requests } } satisfies PublishedMeters)
  for (const customer of customers) {
    // Ingest waits until it can read what a provider's events count.
    await hotState.putDocument(metersDocumentKey(customer.environment, customer.providerId), meters)
    // The window covers all times.
    const windows = [{ id: 'all', fromSecond: 0, toSecond: 4_102_444_800 }]
    await hotState.putEntry(addressOf(customer), { version: 1, document: '{}', windows })
  }
}

function addressOf({ customerRef, environment, providerId }: (typeof customers)[number]) {
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, partitionCount)
  return { space: environment, partition, subject, scope: 'prd_all' }
}

async function startProcess(
  program: string,
  more: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const child = fork(fileURLToPath(import.meta.resolve(program)), {
    execArgv: ['--conditions=source', '--import', 'tsx'],
    env: { PATH: process.env['PATH'], ...settings, ...more },
    // Standard output is ignored, because errors about the unavailable broker would hide the results.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as unknown[]
  if (typeof message !== 'object') throw new Error(`${program} did not start`)
  return child
}

function startIngest(): Promise<ChildProcess> {
  const { port } = controlPlane.address() as AddressInfo
  return startProcess('@tollgate/ingest/main', {
    TOLLGATE_PORT: '0',
    TOLLGATE_CONTROL_PLANE_URL: `http://127.0.0.1:${port}`,
    TOLLGATE_SERVICE_SECRET: 'a secret of this test, of 32 characters',
    TOLLGATE_NATS_URL: nats.address,
    TOLLGATE_NATS_ACK_WAIT_MS: '5000',
    TOLLGATE_NATS_RECONNECT_MS: '100',
  })
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

type Item = { readonly customer: number; readonly value: number }

/** Returns the items of a message, in most cases one. */
function itemsOf(message: number): Item[] {
  const count = message % bulkEvery === 0 ? bulkItems : 1
  return Array.from({ length: count }, (_, index) => ({
    customer: (message * 7 + index) % customers.length,
    value: 1 + ((message + index) % 5),
  }))
}

/**
 * Publishes a message. A third of the messages has no key and is only published while the server is up, because a publisher could
 * not know whether to repeat it. The others are sent again until they are acknowledged.
 */
async function publish(message: number): Promise<void> {
  const kind = (['none', 'id', 'key'] as const)[message % 3]!
  const events = itemsOf(message).map(({ customer, value }, index) => ({
    userId: customers[customer]!.customerRef,
    value,
    properties: kind === 'key' ? { idempotencyKey: `${message}/${index}` } : {},
  }))
  const isBulk = events.length > 1
  const subject = `billing.meter.${isBulk ? 'recordBulk' : 'record'}`
  const body = JSON.stringify(isBulk ? { events } : events[0])
  const named = kind === 'id' ? { msgID: `message-${message}` } : {}
  for (;;) {
    try {
      await jetstream(connection).publish(subject, body, { ...named, timeout: 5_000 })
      return
    } catch (error) {
      if (kind === 'none') throw error
      await sleep(100)
    }
  }
}

async function publishAll(messages: readonly number[]): Promise<void> {
  const left = [...messages]
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await publish(next)
  }
  await Promise.all(Array.from({ length: inFlight }, work))
}

async function headsTotal(): Promise<number> {
  let total = 0
  for (const environment of environments) {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      total += await log.head(usageTopic(environment), partition)
    }
  }
  return total
}

const patience = { timeout: 300_000, interval: 100 }

/** Kills each part once per round, spread over the whole run. */
async function killInTurn(expectedItems: number): Promise<void> {
  const kills: (() => Promise<void>)[] = [
    () => killIngest(0),
    killNats,
    () => killIngest(1),
    ...(kafka === undefined ? [] : [killKafka]),
  ]
  const all = Array.from({ length: rounds }, () => kills).flat()
  for (const [number, killOne] of all.entries()) {
    const reached = (expectedItems * (number + 1)) / (all.length + 2)
    await expect.poll(headsTotal, patience).toBeGreaterThan(reached)
    await killOne()
  }
}

async function killIngest(index: number): Promise<void> {
  await kill(ingest[index]!)
  ingest[index] = await startIngest()
}

async function killNats(): Promise<void> {
  process.kill(nats.servers[0]!.pid, 'SIGKILL')
  nats = await startNats(options, ports.nats)
}

async function killKafka(): Promise<void> {
  process.kill(kafka!.servers[0]!.pid, 'SIGKILL')
  await sleep(1_000)
  kafka = await startKafka(options, ports.kafka)
}

async function untilCounted(): Promise<void> {
  await expect
    .poll(
      () => manager.consumers.info('tollgate-meters', 'tollgate-ingest').catch(() => undefined),
      patience,
    )
    .toMatchObject({ num_pending: 0, num_ack_pending: 0 })
  for (const environment of environments) {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const head = await log.head(usageTopic(environment), partition)
      await expect.poll(() => hotState.appliedOffset(environment, partition), patience).toBe(head)
    }
  }
}

async function readLog(): Promise<{ readonly records: number; readonly ids: Set<string> }> {
  const ids = new Set<string>()
  let records = 0
  for (const environment of environments) {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const topic = usageTopic(environment)
      const head = await log.head(topic, partition)
      for (let offset = 0; offset < head;) {
        const limits = { recordsMax: 10_000, bytesMax: 8_388_608 }
        const read = await log.read(topic, partition, offset, limits)
        for (const { value } of read) ids.add(decodeMeterEvent(value).id)
        records += read.length
        offset = read.at(-1)!.offset + 1
      }
    }
  }
  return { records, ids }
}

it.skipIf(isLeftOut)(
  `counts ${messagesTotal} JetStream messages once while consumers, server and log are killed${missing.title}`,
  async () => {
    const messages = Array.from({ length: messagesTotal }, (_, message) => message)
    const expected = customers.map(() => 0n)
    for (const { customer, value } of messages.flatMap(itemsOf)) {
      expected[customer]! += BigInt(value) * 1_000_000n
    }
    const itemsTotal = messages.flatMap(itemsOf).length
    ingest.push(await startIngest(), await startIngest())
    await expect
      .poll(
        () =>
          manager.consumers.info('tollgate-meters', 'tollgate-ingest').then(
            () => true,
            () => false,
          ),
        patience,
      )
      .toBe(true)
    const startedMs = performance.now()
    await publishAll(messages.filter((message) => message % 3 === 0))
    await Promise.all([
      killInTurn(itemsTotal),
      publishAll(messages.filter((message) => message % 3 !== 0)),
    ])
    await untilCounted()
    const seconds = (performance.now() - startedMs) / 1_000

    const { records, ids } = await readLog()
    const { state } = await manager.streams.info('tollgate-meters')
    const { delivered } = await manager.consumers.info('tollgate-meters', 'tollgate-ingest')
    console.log(
      `bus: ${messagesTotal} messages published (${state.last_seq} stored, ${delivered.consumer_seq} deliveries), ${itemsTotal} items, ` +
        `${ids.size} counted, ${records - ids.size} in the log again and not counted, ${seconds.toFixed(1)} s`,
    )
    expect(ids.size).toBe(itemsTotal)
    const counted = await Promise.all(
      customers.map(async (customer) => {
        const { amounts } = await hotState.readEntry(addressOf(customer), 'requests')
        return amounts.get('all') ?? 0n
      }),
    )
    expect(counted).toEqual(expected)
  },
  1_200_000,
)
