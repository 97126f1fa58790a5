import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { migrateUsageTables } from '@tollgate/aggregator/clickhouse/migrate'
import { unreadableColumns, usageColumns } from '@tollgate/aggregator/domain/usage-rows'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { spawnChdbGateway } from '@tollgate/platform/chdb-gateway/spawn-chdb-gateway'
import type { Database } from '@tollgate/platform/database/database'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { openOwned, type Own } from '@tollgate/platform/service/open-owned'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import {
  createClickHouseUsageStore,
  type ClickHouseConnection,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { outcomes, type MeterEvent, withoutCounts } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import type { SeededRandom } from '../../../tools/src/client/seeded-random.ts'
import type { Source, SourcePartition } from '../../src/migrate/source/source.ts'

const partitions = 3
const providers = ['prov_a', 'prov_b']
const storedPerPartition = 120
const tailPerPartition = 25
const start = Date.UTC(2026, 7, 1)

/** Opens a separate ClickHouse with Tollgate's tables. */
export async function openUsageStore(
  folder: string,
  own: Own,
): Promise<{ usageStore: UsageStore; connection: ClickHouseConnection }> {
  const password = randomUUID()
  const gateway = await spawnChdbGateway({ folder, password })
  await own({ close: () => gateway.stop() })
  const connection = {
    url: gateway.url,
    username: 'default',
    password,
    requestTimeoutMs: 60_000,
  }
  await migrateUsageTables(connection)
  return { usageStore: await own(createClickHouseUsageStore(connection)), connection }
}

/**
 * Opens a source on real parts with all kinds of records: stored ones, unstored ones, a batch stored ahead of the sink's position,
 * rows of a lost log, duplicate rows, and bytes that are not an event.
 */
export function openTestSource(
  folder: string,
  random: SeededRandom,
): Promise<Source & { close(): Promise<void> }> {
  return openOwned(async (own) => {
    const started = await startTestDatabase(migrationsFolder)
    await own({ close: () => started.stop() })
    const { database } = started
    await fillDatabase(database)
    const { usageStore } = await openUsageStore(join(folder, 'clickhouse'), own)
    const log = await own(
      openFileEventLog({
        logFolder: join(folder, 'log'),
        groupsFolder: join(folder, 'groups'),
        role: 'writer',
        topics: Object.fromEntries(environments.map((each) => [usageTopic(each), partitions])),
      }),
    )
    const places: SourcePartition[] = []
    for (const environment of environments) {
      for (let partition = 0; partition < partitions; partition += 1) {
        const at = { environment, partition }
        const records = recordsOf(at, random)
        for (const { value } of records) {
          await log.append(usageTopic(environment), partition, value, start + places.length)
        }
        const storedTo = storedPerPartition
        const head = records.length
        places.push({ ...at, storedTo, head })
        // 10 of the rows are ahead of the position.
        await store(usageStore, at, records.slice(0, storedTo + 10))
        await store(usageStore, at, records.slice(0, 5))
      }
      const lost = recordsOf({ environment, partition: 0 }, random).slice(storedPerPartition)
      await store(usageStore, { environment, partition: 0 }, lost, storedPerPartition)
    }
    return { database, usageStore, log, partitions: places, id: randomUUID(), state: 'as made' }
  })
}

type Place = Pick<SourcePartition, 'environment' | 'partition'>
type TestRecord = { readonly value: Uint8Array; readonly event: MeterEvent | undefined }

function recordsOf(at: Place, random: SeededRandom): TestRecord[] {
  return Array.from({ length: storedPerPartition + tailPerPartition }, (_, number) => {
    const isOdd = number === 7 || number === storedPerPartition + 3
    if (isOdd) return { value: Buffer.from(`no event ${number}`), event: undefined }
    const event = eventAt(at, random)
    const buffer = Buffer.alloc(4_096)
    return { value: buffer.subarray(0, encodeMeterEvent(event, buffer, 0)), event }
  })
}

function eventAt({ partition }: Place, random: SeededRandom): MeterEvent {
  const providerId = random.pick(providers)
  let customerRef: string
  do customerRef = `customer '\\ä${random.integer(0, 60)}`
  while (partitionOf(subjectKey(providerId, customerRef), partitions) !== partition)
  const isKeyed = random.chance(0.5)
  const timestamp = start + random.integer(0, 100 * 86_400_000)
  return {
    id: `usage_${randomUUID()}`,
    providerId,
    customerRef,
    meterName: random.pick(['requests', 'tokens']),
    value: random.integer(-9_000_000_000, 9_000_000_000_000_000),
    timestamp,
    receivedAt: timestamp + random.integer(0, 5_000),
    productRef: random.pick([null, 'prd_1']),
    purchaseRef: null,
    outcome: random.pick(outcomes),
    source: 'usages',
    idempotencyKey: isKeyed ? `key "${random.integer(0, 1e9)}` : null,
    properties: JSON.stringify({ text: 'x'.repeat(random.integer(0, 200)) }),
    reservationId: null,
    traceParent: null,
    debit: random.chance(0.2) ? String(10n ** 16n + BigInt(random.integer(0, 1e9))) : null,
    ...withoutCounts,
  }
}

async function store(
  usageStore: UsageStore,
  { environment, partition }: Place,
  records: readonly TestRecord[],
  fromOffset = 0,
): Promise<void> {
  const events = records.flatMap(({ event }, at) =>
    event === undefined ? [] : [{ event, offset: fromOffset + at }],
  )
  const unreadable = records.flatMap(({ event, value }, at) =>
    event === undefined
      ? [{ offset: fromOffset + at, receivedAtMs: start, value, error: 'no event' }]
      : [],
  )
  const rows = usageColumns(partition)
  await usageStore.insert(`${environment}.usage_records`, rows, events, randomUUID())
  if (unreadable.length === 0) return
  const columns = unreadableColumns(partition)
  await usageStore.insert(`${environment}.unreadable_records`, columns, unreadable, randomUUID())
}

async function fillDatabase(database: Database): Promise<void> {
  const now = new Date(start)
  for (const providerId of providers) {
    await database.control`
      insert into providers (provider_id, name, default_currency, created_at)
      values (${providerId}, ${`Tab\there and \\ "quotes" of ${providerId}`}, 'USD', ${now})`
    for (const environment of environments) {
      await fillEnvironment(database, environment, providerId, now)
    }
  }
}

async function fillEnvironment(
  database: Database,
  environment: Environment,
  providerId: string,
  now: Date,
): Promise<void> {
  const sql = database.in(environment)
  for (let number = 0; number < 8; number += 1) {
    const reference = `cus_${providerId}_${number}`
    await sql`
      insert into customers (provider_id, reference, email, status, metadata, created_at, updated_at)
      values (${providerId}, ${reference}, ${`${reference}@test.example`}, 'active',
        ${sql.json({ note: 'line\nbreak', number })}, ${now}, ${now})`
    await sql`
      insert into customer_references (provider_id, customer_ref, reference, linked_at)
      values (${providerId}, ${reference}, ${reference}, ${now})`
    await sql`insert into outbox (event_id, provider_id, type, livemode, object, created_at)
      values (${`evt_${reference}`}, ${providerId}, 'customer.created', false, '{}', ${now})`
    await sql`
      insert into publications (provider_id, kind, target)
      values (${providerId}, 'customer', ${reference})`
  }
}
