import type { MeterReading } from '@tollgate/schemas/meter-reading'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSecretKey, sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { environments, type Environment } from '@tollgate/schemas/environment'
import {
  apiKeyDocumentKey,
  type PublishedApiKey,
  type PublishedMeters,
  metersDocumentKey,
} from '@tollgate/schemas/hot-state/documents'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import {
  publicationsProgressKey,
  publicationsStartKey,
  publishedKinds,
  type PublicationsProgress,
  type PublicationsStart,
  type PublishedKind,
} from '@tollgate/schemas/hot-state/publications'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'
import { readIngestConfig } from '../src/config.ts'
import { createIngest, type Ingest, type IngestOverrides } from '../src/service.ts'

export const partitionCount = 2
export const providerId = 'prv_TESTPROVIDER'

const topics = Object.fromEntries(
  environments.map((environment) => [usageTopic(environment), partitionCount]),
)

export type InstallationOptions = {
  readonly settings?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly log?: (log: EventLog) => EventLog
  readonly front?: IngestOverrides['front']
  /** Hot state as ingest sees it. */
  readonly hotState?: (hotState: HotState) => HotState
}

export type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** A real log and hot state in a temporary folder, an HTTP server in place of the control plane, and ingest. */
export class Installation {
  readonly dataDir: string
  readonly log: EventLog
  readonly hotState: HotState
  /** Answers the requests that ingest forwards. */
  controlPlane: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"from":"control plane"}')
  }
  readonly #upstream: Server
  #ingest: Ingest

  static async start(options: InstallationOptions = {}): Promise<Installation> {
    const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-ingest-'))
    const log = await openFileEventLog({
      logFolder: join(dataDir, 'log'),
      groupsFolder: join(dataDir, 'groups'),
      role: 'writer',
      topics,
    })
    const hotState = await openLmdbHotState({ folder: join(dataDir, 'hot'), role: 'projection' })
    const installation = new Installation(dataDir, log, hotState)
    await installation.publishAll(publishedKinds)
    await installation.#listen(options)
    return installation
  }

  private constructor(dataDir: string, log: EventLog, hotState: HotState) {
    this.dataDir = dataDir
    this.log = log
    this.hotState = hotState
    this.#upstream = createServer((request, response) => this.controlPlane(request, response))
    this.#ingest = undefined as unknown as Ingest
  }

  get ingest(): Ingest {
    return this.#ingest
  }

  get port(): number {
    return this.#ingest.port
  }

  async #listen(options: InstallationOptions): Promise<void> {
    await new Promise<void>((resolve) => this.#upstream.listen(0, '127.0.0.1', resolve))
    const { port } = this.#upstream.address() as AddressInfo
    const config = readIngestConfig({
      TOLLGATE_DATA_DIR: this.dataDir,
      TOLLGATE_PORT: '0',
      TOLLGATE_CONTROL_PLANE_URL: `http://127.0.0.1:${port}`,
      TOLLGATE_CACHE_FRESH_MS: '100',
      TOLLGATE_FOLLOW_INTERVAL_MS: '20',
      TOLLGATE_SHUTDOWN_GRACE_MS: '500',
      ...options.settings,
    })
    this.#ingest = createIngest(config, {
      logger: createLogger('ingest', 'silent'),
      eventLog: options.log?.(this.log) ?? this.log,
      hotState: options.hotState?.(this.hotState) ?? this.hotState,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      ...(options.front === undefined ? {} : { front: options.front }),
    })
    await this.#ingest.start()
  }

  /** Restarts ingest as after a crash: on the same folder, with nothing in memory. */
  async restart(options: InstallationOptions = {}): Promise<void> {
    await this.#ingest.stop()
    await this.stopControlPlane()
    await this.#listen(options)
  }

  async stopControlPlane(): Promise<void> {
    this.#upstream.closeAllConnections()
    await new Promise((resolve) => this.#upstream.close(resolve))
  }

  /** Returns the value of a metric for one label value. */
  async metric(name: string, label: string): Promise<number | undefined> {
    const page = await (await fetch(`http://127.0.0.1:${this.#ingest.adminPort}/metrics`)).text()
    const line = page
      .split('\n')
      .find((each) => each.startsWith(`${name}{`) && each.includes(`"${label}"`))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }

  /** Marks all documents of these kinds as published by the control plane. */
  async publishAll(published: readonly PublishedKind[]): Promise<void> {
    const { hotState } = this
    const start: PublicationsStart = { id: randomUUID(), incarnation: await hotState.incarnation() }
    const progress: PublicationsProgress = { id: start.id, queuedTo: {}, published }
    await hotState.putDocument(publicationsStartKey, JSON.stringify(start))
    await hotState.putDocument(publicationsProgressKey, JSON.stringify(progress))
  }

  async createKey(
    environment: Environment = 'sandbox',
    expiresAtMs: number | null = null,
    holder = providerId,
    scopes?: readonly KeyScope[],
    isMisplaced?: boolean,
  ): Promise<string> {
    const secretKey = generateSecretKey(environment, randomBytes)
    const document: PublishedApiKey = {
      keyId: 'key_TEST',
      providerId: holder,
      environment,
      expiresAtMs,
      scopes,
      isMisplaced,
    }
    const key = apiKeyDocumentKey(sha256OfSecretKey(secretKey))
    await this.hotState.putDocument(key, JSON.stringify(document))
    return secretKey
  }

  async revokeKey(secretKey: string): Promise<void> {
    await this.hotState.deleteDocument(apiKeyDocumentKey(sha256OfSecretKey(secretKey)))
  }

  async publishMeters(meters: Readonly<Record<string, 'active' | 'archived'>>): Promise<void> {
    const entries = Object.entries({ requests: 'active', ...meters }).map(
      ([name, status]) => [name, { reference: `mtr_${name}`, status }] as const,
    )
    await this.hotState.putDocument(
      metersDocumentKey('sandbox', providerId),
      JSON.stringify({ meters: Object.fromEntries(entries) }),
    )
  }

  /** Publishes meters that read events beside the meter of requests. */
  async publishReadings(readings: Readonly<Record<string, Partial<MeterReading>>>): Promise<void> {
    const none = {
      aggregation: 'sum',
      type: 'llm.call',
      where: {},
      value: [],
      dimensions: [],
    } as const
    const meters = Object.entries(readings).map(
      ([name, reading]) =>
        [
          name,
          { reference: `mtr_${name}`, status: 'active', reads: { ...none, ...reading } },
        ] as const,
    )
    const requests = { reference: 'mtr_requests', status: 'active' } as const
    const document: PublishedMeters = { meters: { requests, ...Object.fromEntries(meters) } }
    await this.hotState.putDocument(
      metersDocumentKey('sandbox', providerId),
      JSON.stringify(document),
    )
  }

  async post(path: string, secretKey: string, body: unknown): Promise<Reply> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.send(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: text,
    })
  }

  async send(path: string, init: RequestInit): Promise<Reply> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, init)
    const body = (await response.json()) as Record<string, unknown>
    return { status: response.status, headers: response.headers, body }
  }

  /** Returns the number of records in the log, over all partitions. */
  async stored(environment: Environment = 'sandbox'): Promise<number> {
    const topic = usageTopic(environment)
    let count = 0
    for (let partition = 0; partition < partitionCount; partition++) {
      count += await this.log.head(topic, partition)
    }
    return count
  }

  async events(environment: Environment = 'sandbox'): Promise<MeterEvent[]> {
    const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)
    const events = await Promise.all(
      partitions.map((partition) => this.eventsOf(environment, partition, 0)),
    )
    return events.flat()
  }

  async eventsOf(
    environment: Environment,
    partition: number,
    fromOffset: number,
  ): Promise<MeterEvent[]> {
    const limits = { recordsMax: 100_000, bytesMax: 100_000_000 }
    const records = await this.log.read(usageTopic(environment), partition, fromOffset, limits)
    return records.map((record) => decodeMeterEvent(record.value))
  }

  async remove(): Promise<void> {
    await this.#ingest.stop()
    await this.stopControlPlane()
    await this.log.close()
    await this.hotState.close()
    await rm(this.dataDir, { recursive: true })
  }
}
