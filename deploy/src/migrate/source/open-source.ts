import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { usageMigrations } from '@tollgate/aggregator/clickhouse/migrate'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { spawnChdbGateway } from '@tollgate/platform/chdb-gateway/spawn-chdb-gateway'
import { startEmbeddedPostgres } from '@tollgate/platform/database/embedded/embedded-postgres'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { openOwned, type Own } from '@tollgate/platform/service/open-owned'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { makeTemporaryFolder } from '../../standalone/temporary-folder.ts'
import { requireFormat, type DataFolder } from '../../standalone/data-folder.ts'
import { lockFolder } from '../../standalone/folder-lock.ts'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import { listSums, poolOf, schemas } from '../verify/database-sums.ts'
import type { Source, SourcePartition } from './source.ts'

/**
 * Opens a stopped installation and keeps its lock until it is closed. PostgreSQL and ClickHouse are started on their folders, and
 * only read. The log is read in place. The positions are read from a copy, because the library that stores them cannot open them
 * read-only.
 */
export function openSource(
  folder: DataFolder,
): Promise<Source & { readonly close: () => Promise<void> }> {
  return openOwned(async (own) => {
    await requireInstallation(folder)
    const lock = await lockFolder(folder.root, (owner) => stillRunning(folder.root, owner))
    await own({ close: () => lock.release() })
    await requireFormat(folder)
    // A normal stop removes the run file. If it exists, the installation crashed, and only a start can repair what the crash left
    // behind.
    if (existsSync(folder.runFile)) {
      throw new StartRefusedError(
        `Tollgate was killed on ${folder.root}, or the machine went down. Start it once with npm start, ` +
          'stop it with Ctrl-C, then migrate.',
      )
    }
    const log = await openLog(folder, own)
    const postgres = await startPostgres(folder, own)
    const usageStore = await startClickHouse(folder, own)
    const database = await own(
      // There is no statement timeout, because sums of whole tables take long.
      createPostgresDatabase({
        url: postgres,
        isOwner: true,
        poolMax: 2,
        statementTimeoutMs: 0,
        isReadOnly: true,
      }),
    )
    await requireSameRelease(folder, { database, usageStore })
    const partitions = await listPartitions(log)
    const [identity] = await database.control<{ id: string }[]>`
      select system_identifier::text as id from pg_control_system()`
    const state = JSON.stringify([partitions, await listSums(database)], (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    return {
      database,
      usageStore,
      log,
      partitions,
      id: identity!.id,
      state: createHash('sha256').update(state).digest('hex'),
    }
  })
}

async function requireInstallation({ root, ...parts }: DataFolder): Promise<void> {
  const needed = [parts.formatFile, parts.log, parts.groups, parts.clickhouse, parts.postgres]
  const missing = needed.filter((path) => !existsSync(path))
  if (missing.length === 0) return
  throw new StartRefusedError(
    `${root} holds no embedded installation (there is no ${missing[0]!}). ` +
      'Name the data folder of npm start with --from.',
  )
}

function stillRunning(root: string, owner: string): StartRefusedError {
  return new StartRefusedError(
    `Tollgate runs on ${root} (process ${owner}). Stop it with Ctrl-C, then migrate.`,
  )
}

async function openLog(folder: DataFolder, own: Own): Promise<EventLog> {
  const temporary = await makeTemporaryFolder('migrate')
  await own({ close: () => temporary.remove() })
  const groupsFolder = join(temporary.path, 'groups')
  await mkdir(groupsFolder)
  await copyFile(join(folder.groups, 'data.mdb'), join(groupsFolder, 'data.mdb'))
  const options = { logFolder: folder.log, groupsFolder, topics: {}, createdWithinMs: 0 }
  return await own(openFileEventLog({ ...options, role: 'reader' }))
}

async function startPostgres(folder: DataFolder, own: Own): Promise<string> {
  const server = await startEmbeddedPostgres({ folder: folder.postgres, port: 0 })
  await own({ close: () => server.stop() })
  return server.url
}

async function startClickHouse(folder: DataFolder, own: Own): Promise<UsageStore> {
  const password = randomBytes(24).toString('base64url')
  const gateway = await spawnChdbGateway({ folder: folder.clickhouse, password })
  await own({ close: () => gateway.stop() })
  const { url } = gateway
  return await own(
    createClickHouseUsageStore({ url, username: 'default', password, requestTimeoutMs: 600_000 }),
  )
}

/** Refuses tables of another release, because they would have to be migrated first. */
async function requireSameRelease(
  { root }: DataFolder,
  { database, usageStore }: Pick<Source, 'database' | 'usageStore'>,
): Promise<void> {
  const inClickHouse = usageMigrations.map(({ name }) => name)
  for (const schema of schemas) {
    const files = join(migrationsFolder, schema === 'control' ? 'control' : 'environment')
    const expected = (await readdir(files)).filter((name) => name.endsWith('.sql')).sort()
    const found = await poolOf(database, schema)<{ name: string }[]>`
      select name from schema_migrations order by name`
    if (!isSame(found, expected)) throw otherRelease(root)
  }
  for (const environment of environments) {
    const found = await usageStore.query<{ name: string }>(
      `SELECT DISTINCT name FROM ${environment}.schema_migrations ORDER BY name`,
    )
    if (!isSame(found, inClickHouse)) throw otherRelease(root)
  }
}

function isSame(found: readonly { readonly name: string }[], names: readonly string[]): boolean {
  return found.map(({ name }) => name).join() === names.join()
}

function otherRelease(root: string): StartRefusedError {
  return new StartRefusedError(
    `The tables in ${root} are of another release. Start it once with npm start of this one, ` +
      'stop it with Ctrl-C, then migrate.',
  )
}

async function listPartitions(log: EventLog): Promise<SourcePartition[]> {
  const partitions: SourcePartition[] = []
  for (const environment of environments) {
    const topic = usageTopic(environment)
    for (let partition = 0; partition < log.partitionCount(topic); partition += 1) {
      const { offset } = await log.position(sinkGroup, topic, partition)
      // If the positions were lost, everything from the oldest record on counts as not stored.
      const storedTo = Math.max(offset, await log.oldest(topic, partition))
      const head = await log.head(topic, partition)
      partitions.push({ environment, partition, storedTo, head })
    }
  }
  return partitions
}
