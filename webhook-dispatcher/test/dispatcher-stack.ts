import { randomBytes } from 'node:crypto'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createLogger } from '@tollgate/platform/observability/logger'
import { parseAllowList } from '@tollgate/platform/outbound/allow-list'
import { GuardedHttp } from '@tollgate/platform/outbound/guarded-http'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { generateEventId } from '@tollgate/domain/unit-of-work/generate-event-id'
import { readWebhookDispatcherConfig, type WebhookDispatcherConfig } from '../src/config.ts'
import type { Parts } from '../src/open-parts.ts'
import { createWebhookDispatcher, type WebhookDispatcher } from '../src/service.ts'

export type DispatcherStack = {
  readonly databaseUrl: string
  readonly database: Database
  /** Encrypts secrets with the key that the dispatchers use. */
  readonly secrets: SecretBox
  readonly secretKeys: string
  /** The time that dispatchers see. Undefined means the system time. */
  now: number | undefined
  /** Starts a dispatcher in this process. */
  start(
    config?: Partial<WebhookDispatcherConfig>,
    parts?: Partial<Parts>,
  ): Promise<WebhookDispatcher>
  insertEndpoint(endpoint: NewEndpoint): Promise<void>
  /** Emits one event for each listed customer in one transaction, and returns the event ids. */
  emit(providerId: string, customers: readonly string[], type?: string): Promise<string[]>
  /** Stops all dispatchers, empties the queue and deletes the endpoints. */
  reset(): Promise<void>
  close(): Promise<void>
}

type NewEndpoint = {
  readonly providerId: string
  readonly reference: string
  readonly url: string
  readonly secrets?: readonly NewSecret[]
}

type NewSecret = { readonly text: string; readonly signsFirst: boolean }

export const onlySecret = 'whsec_only'

/** Starts a PostgreSQL, and dispatchers in this process that may send to loopback addresses. */
export async function startDispatcherStack(): Promise<DispatcherStack> {
  const postgres = await startTestDatabase(migrationsFolder)
  const database = createPostgresDatabase({ url: postgres.url, poolMax: 8 })
  const key = { id: 'test', bytes: randomBytes(32) }
  const secrets = new SecretBox([key])
  const started = new Set<WebhookDispatcher>()
  const posts: GuardedHttp[] = []
  const stack: DispatcherStack = {
    databaseUrl: postgres.url,
    database,
    secrets,
    secretKeys: `${key.id}:${key.bytes.toString('base64')}`,
    now: undefined,
    async start(config = {}, parts = {}) {
      const outbound = openOutbound(config.outboundTimeoutMs)
      posts.push(outbound)
      const dispatcher = createWebhookDispatcher(
        { ...readWebhookDispatcherConfig({ TOLLGATE_DATABASE_URL: postgres.url }), ...config },
        {
          database,
          secrets,
          outbound: { of: () => outbound },
          logger: createLogger('webhook-dispatcher', 'silent'),
          clock: { now: () => stack.now ?? Date.now() },
          ...parts,
        },
      )
      await dispatcher.start()
      started.add(dispatcher)
      return dispatcher
    },
    insertEndpoint: (endpoint) => insertEndpoint(database, secrets, endpoint),
    emit: (providerId, customers, type) =>
      emit(database, providerId, customers, type, new Date(stack.now ?? Date.now())),
    async reset() {
      for (const dispatcher of started) await dispatcher.stop()
      started.clear()
      for (const each of posts.splice(0)) await each.close()
      const sql = database.in('sandbox')
      for (const table of tables) await sql`delete from ${sql(table)}`
      stack.now = undefined
    },
    async close() {
      await stack.reset()
      await database.close()
      await postgres.stop()
    },
  }
  return stack
}

const tables = ['webhook_attempts', 'webhook_deliveries', 'webhook_endpoints', 'outbox']

function openOutbound(timeoutMs = 20_000): GuardedHttp {
  return new GuardedHttp({
    allowed: parseAllowList('127.0.0.1'),
    ports: [443],
    isPlainHttpAllowed: true,
    // A connection that times out on a busy machine would be retried only after minutes.
    connectTimeoutMs: 20_000,
    timeoutMs,
    answerBytesMax: 0,
    connectionsPerOriginMax: 256,
  })
}

async function insertEndpoint(
  database: Database,
  box: SecretBox,
  { providerId, reference, url, secrets }: NewEndpoint,
): Promise<void> {
  const place = { table: 'webhook_secrets', column: 'secret', owner: providerId } as const
  const given = secrets ?? [{ text: onlySecret, signsFirst: true }]
  await database
    .of(providerId)
    .in('sandbox')
    .write(async (sql) => {
      await sql`
        insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
        values (${providerId}, ${reference}, ${url}, now(), now())`
      for (const [number, { text, signsFirst }] of given.entries()) {
        await sql`
          insert into webhook_secrets (provider_id, reference, endpoint_ref, secret, signs_first, created_at)
          values (${providerId}, ${`whs_${reference}_${number}`}, ${reference}, ${box.seal(text, place)}, ${signsFirst},
            now() + ${`${number} seconds`}::interval)`
      }
    })
}

async function emit(
  database: Database,
  providerId: string,
  customers: readonly string[],
  type = 'payment.succeeded',
  createdAt: Date,
): Promise<string[]> {
  const events = customers.map((customer) => ({
    eventId: generateEventId(createdAt),
    providerId,
    type,
    livemode: false,
    object: { id: 'pay_1', customer },
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

/** Polls until the condition holds. Fails after 30 seconds unless `withinMs` says otherwise. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const givenUpAt = Date.now() + withinMs
  while (!(await isSo())) {
    if (Date.now() > givenUpAt) throw new Error('the condition did not become true in time')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
