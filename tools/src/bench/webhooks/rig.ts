import { randomBytes } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Database } from '@tollgate/platform/database/database'
import { startEmbeddedPostgres } from '@tollgate/platform/database/embedded/embedded-postgres'
import { migratePostgres } from '@tollgate/platform/database/postgres/migrations'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { generateEventId } from '@tollgate/domain/unit-of-work/generate-event-id'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import { servicePrograms } from '@tollgate/deploy/standalone/service-programs'
import { findFreePort } from '@tollgate/deploy/standalone/ports'
import { startSink, type Sink } from './sink-process.ts'

const provider = 'prov_bench'

export type Rig = {
  readonly database: Database
  readonly sink: Sink
  /** Creates endpoints of a provider at a path of the sink. */
  insertEndpoints(count: number, path?: string, providerId?: string): Promise<void>
  /** Deletes all endpoints and deliveries, and resets the sink. */
  clear(): Promise<void>
  /** Writes events of about 1 kB to the outbox, some hundreds per transaction. */
  emitEvents(events: number, providerId?: string): Promise<void>
  /** Writes one event, and returns the time of its commit in Unix milliseconds. */
  emitEvent(): Promise<{ readonly eventId: string; readonly committedAtMs: number }>
  startDispatchers(count: number, environment?: Readonly<Record<string, string>>): Dispatchers
  restartDatabase(): Promise<void>
  /** Stops the rig, including all dispatchers that are still running. */
  stop(): Promise<void>
}

export type Dispatchers = {
  readonly processes: readonly ChildProcess[]
  stop(): Promise<void>
}

/** Starts a PostgreSQL with normal durability, a receiver, and dispatchers as separate processes of the built program. */
export async function startRig(
  folder: string,
  dispatcher: string = servicePrograms.webhookDispatcher,
): Promise<Rig> {
  const options = { folder: `${folder}/postgres`, port: await findFreePort(new Set()) }
  let postgres = await startEmbeddedPostgres(options)
  await migratePostgres({ url: postgres.url, folder: migrationsFolder })
  const database = createPostgresDatabase({ url: postgres.url, poolMax: 4 })
  const owner = createPostgresDatabase({ url: postgres.url, isOwner: true, poolMax: 1 })
  const sink = await startSink()
  const key = { id: 'bench', bytes: randomBytes(32) }
  const box = new SecretBox([key])
  const environment = {
    TOLLGATE_DATABASE_URL: postgres.url,
    TOLLGATE_SECRET_KEYS: `${key.id}:${key.bytes.toString('base64')}`,
    TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
    TOLLGATE_LOG_LEVEL: 'error',
  }
  const started: Dispatchers[] = []
  let isStopping = false
  return {
    database,
    sink,
    insertEndpoints: (count, path = '/', providerId = provider) =>
      insertEndpoints(database, box, providerId, count, sink.url + path),
    clear: async () => {
      await sink.reset()
      await owner.in('sandbox')`
        truncate webhook_deliveries, webhook_attempts, webhook_secrets, webhook_endpoints, outbox`
    },
    emitEvents: (events, providerId = provider) => emitEvents(database, providerId, events),
    emitEvent: async () => {
      const [eventId] = await emitBatch(database, provider, 1)
      return { eventId: eventId!, committedAtMs: performance.timeOrigin + performance.now() }
    },
    startDispatchers: (count, more = {}) => {
      // A test that timed out may still be running. Dispatchers that it starts now would never be stopped.
      if (isStopping) throw new Error('the rig is stopped')
      const dispatchers = startDispatchers(dispatcher, count, { ...environment, ...more })
      started.push(dispatchers)
      return dispatchers
    },
    restartDatabase: async () => {
      await postgres.stop()
      postgres = await startEmbeddedPostgres(options)
    },
    stop: async () => {
      isStopping = true
      await Promise.all(started.map((each) => each.stop()))
      sink.stop()
      await owner.close()
      await database.close()
      await postgres.stop()
    },
  }
}

async function insertEndpoints(
  database: Database,
  box: SecretBox,
  providerId: string,
  count: number,
  url: string,
): Promise<void> {
  const place = { table: 'webhook_secrets', column: 'secret', owner: providerId } as const
  const sql = database.in('sandbox')
  for (let number = 0; number < count; number += 1) {
    const reference = generateReference('webhookEndpoint')
    await sql`
      insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
      values (${providerId}, ${reference}, ${url}, now(), now())`
    await sql`
      insert into webhook_secrets (provider_id, reference, endpoint_ref, secret, signs_first, created_at)
      values (${providerId}, ${generateReference('webhookSigningSecret')}, ${reference},
        ${box.seal(`whsec_${reference}`, place)}, true, now())`
  }
}

const eventsPerTransaction = 250

async function emitEvents(database: Database, providerId: string, events: number): Promise<void> {
  for (let emitted = 0; emitted < events; emitted += eventsPerTransaction) {
    await emitBatch(database, providerId, Math.min(eventsPerTransaction, events - emitted))
  }
}

/** Makes an event about 1 kB long together with its other members. */
const filler = 'x'.repeat(620)

async function emitBatch(
  database: Database,
  providerId: string,
  count: number,
): Promise<readonly string[]> {
  const createdAt = new Date()
  const events = Array.from({ length: count }, () => ({
    eventId: generateEventId(createdAt),
    providerId,
    type: 'payment.succeeded',
    livemode: false,
    object: {
      id: generateReference('paymentIntent'),
      customer: generateReference('customer'),
      filler,
    },
    previousAttributes: null,
    requestId: null,
    idempotencyKey: null,
    createdAt,
  }))
  await database
    .of(providerId)
    .in('sandbox')
    .write((sql) => insertOutboxEvents(sql, events))
  return events.map(({ eventId }) => eventId)
}

function startDispatchers(
  program: string,
  count: number,
  environment: Readonly<Record<string, string>>,
): Dispatchers {
  const processes = Array.from({ length: count }, () => startDispatcher(program, environment))
  return {
    processes,
    stop: async () => {
      const running = processes.filter((child) => !hasEnded(child))
      const exits = running.map((child) => once(child, 'exit'))
      for (const child of running) child.kill('SIGTERM')
      await Promise.all(exits)
    },
  }
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

function startDispatcher(
  program: string,
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn(process.execPath, ['--enable-source-maps', program], {
    env: { ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
