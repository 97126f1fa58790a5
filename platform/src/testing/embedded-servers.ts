import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readerName } from '../chdb-gateway/credentials.ts'
import { spawnChdbGateway, type ChdbGatewayProcess } from '../chdb-gateway/spawn-chdb-gateway.ts'
import type { Database } from '../database/database.ts'
import { createDatabase } from '../database/postgres/create-database.ts'
import { createPostgresDatabase } from '../database/postgres/postgres-database.ts'
import {
  createClickHouseUsageStore,
  type ClickHouseConnection,
} from '../usage-store/clickhouse/clickhouse-usage-store.ts'
import type { UsageStore } from '../usage-store/usage-store.ts'
import {
  copiesVariable,
  copyPrefix,
  copyMigrated,
  dropCopies,
  startCopiedPostgres,
} from './copied-postgres.ts'

type Running<Server> = { readonly server: Server; readonly folder: string }

type SharedServer<Server> = { acquire(): Promise<Server>; release(): Promise<void> }

/**
 * Shares one server per process and kind among all callers. It stops with the last of them. With `empty`, a test run keeps the server
 * for the next test file of this process, and `empty` removes what the last caller left. Such a server ends with the process, and its
 * folder is removed with the folder of the test run.
 */
function shared<Server extends { stop(): Promise<void> }>(
  name: string,
  start: (folder: string) => Promise<Server>,
  empty?: (server: Server) => Promise<void>,
): SharedServer<Server> {
  const runFolder = empty && process.env[copiesVariable]
  let running: Promise<Running<Server>> | undefined
  let users = 0

  async function startIn(): Promise<Running<Server>> {
    const folder = await mkdtemp(join(runFolder ?? tmpdir(), `tollgate-test-${name}-`))
    try {
      const server = await start(folder)
      if (runFolder !== undefined) stopWithProcess(server)
      return { server, folder }
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  return {
    async acquire() {
      users += 1
      try {
        return (await (running ??= startIn())).server
      } catch (error) {
        users -= 1
        // The next test file of this process tries again.
        running = undefined
        throw error
      }
    },
    async release() {
      const found = await running
      users -= 1
      if (found === undefined || users > 0) return
      if (empty !== undefined && runFolder !== undefined) return empty(found.server)
      running = undefined
      await found.server.stop()
      await rm(found.folder, { recursive: true, force: true })
    },
  }
}

/** Vitest ends its processes with SIGTERM. Only on Linux does PostgreSQL end with its parent process by itself. */
function stopWithProcess(server: { stop(): Promise<void> }): void {
  process.once('SIGTERM', () => {
    void server.stop()
    process.kill(process.pid, 'SIGTERM')
  })
}

const emptyServer = shared('postgres', (folder) => startCopiedPostgres(folder, undefined))
const migratedServers = new Map<string, typeof emptyServer>()

function serverWith(migrationsFolder: string | undefined): typeof emptyServer {
  if (migrationsFolder === undefined) return emptyServer
  const found =
    migratedServers.get(migrationsFolder) ??
    shared('postgres', (folder) => startCopiedPostgres(folder, migrationsFolder), dropCopies)
  migratedServers.set(migrationsFolder, found)
  return found
}

const password = randomBytes(12).toString('hex')
const readerPassword = randomBytes(12).toString('hex')
const clickHouseServer = shared<ChdbGatewayProcess>(
  'clickhouse',
  (folder) => spawnChdbGateway({ folder, password, readerPassword }),
  dropDatabases,
)

function outsideDatabases(url: string): ClickHouseConnection {
  return { url, username: 'default', password, requestTimeoutMs: 30_000 }
}

async function dropDatabases({ url }: ChdbGatewayProcess): Promise<void> {
  const store = createClickHouseUsageStore(outsideDatabases(url))
  try {
    const found = await store.query<{ name: string }>(`
      SELECT name FROM system.databases
      WHERE name NOT IN ('default', 'system', 'INFORMATION_SCHEMA', 'information_schema')`)
    for (const { name } of found) await store.command(`DROP DATABASE \`${name}\``)
  } finally {
    await store.close()
  }
}

export type TestDatabase = {
  readonly database: Database
  readonly url: string
  stop(): Promise<void>
}

/** Longer timeouts than in services, so that a test with a hundred concurrent requests on a busy machine succeeds. */
const patience = {
  statementTimeoutMs: 60_000,
  lockTimeoutMs: 30_000,
  idleInTransactionTimeoutMs: 60_000,
}

/**
 * Creates a separate PostgreSQL database. With a folder of migrations it is migrated and used in the roles of services, otherwise
 * as its owner.
 */
export async function startTestDatabase(migrationsFolder?: string): Promise<TestDatabase> {
  const servers = serverWith(migrationsFolder)
  const server = await servers.acquire()
  const name = `${copyPrefix}${randomBytes(6).toString('hex')}`
  const created =
    migrationsFolder === undefined
      ? createDatabase(server.url, name)
      : copyMigrated(server.url, name)
  await created.catch(async (error: unknown) => {
    await servers.release()
    throw error
  })
  const url = server.url.replace(/[^/]*$/, name)
  const isOwner = migrationsFolder === undefined
  const database = createPostgresDatabase({ ...patience, url, isOwner, poolMax: 4 })
  return {
    database,
    url,
    async stop() {
      await database.close()
      await servers.release()
    },
  }
}

export type TestUsageStore = {
  readonly store: UsageStore
  readonly connection: ClickHouseConnection
  stop(): Promise<void>
}

export type SharedUsageStore = TestUsageStore & {
  /** Connection to the same server as its read-only user. */
  readonly reader: ClickHouseConnection
}

/** Starts the real ClickHouse engine behind the gateway, with an empty default database. */
export async function startTestUsageStore(): Promise<SharedUsageStore> {
  const server = await clickHouseServer.acquire()
  const outside = outsideDatabases(server.url)
  const connection = { ...outside, database: `test_${randomBytes(6).toString('hex')}` }
  const maintenance = createClickHouseUsageStore(outside)
  await maintenance.command(`CREATE DATABASE ${connection.database}`)
  await maintenance.close()
  const store = createClickHouseUsageStore(connection)
  return {
    store,
    connection,
    reader: { ...outside, username: readerName, password: readerPassword },
    async stop() {
      await store.close()
      await clickHouseServer.release()
    },
  }
}
