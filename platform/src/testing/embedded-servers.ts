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

type Running<Server> = { readonly server: Server; readonly folder: string; users: number }

type SharedServer<Server> = { acquire(): Promise<Server>; release(): Promise<void> }

/** Shares one server per process and kind among all callers. It stops with the last of them. */
function shared<Server extends { stop(): Promise<void> }>(
  name: string,
  start: (folder: string) => Promise<Server>,
): SharedServer<Server> {
  let running: Promise<Running<Server>> | undefined

  async function startIn(): Promise<Running<Server>> {
    const folder = await mkdtemp(join(tmpdir(), `tollgate-test-${name}-`))
    try {
      return { server: await start(folder), folder, users: 0 }
    } catch (error) {
      // The next test file of this process tries again.
      running = undefined
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  return {
    async acquire() {
      const found = await (running ??= startIn())
      found.users += 1
      return found.server
    },
    async release() {
      const found = await running
      if (found === undefined || (found.users -= 1) > 0) return
      running = undefined
      await found.server.stop()
      await rm(found.folder, { recursive: true, force: true })
    },
  }
}

/**
 * Shares one server like `shared`, and keeps it for the next test file of this process. `empty` removes what the last caller left.
 * The server ends with the process, and its folder is removed with the folder of the test run. Outside of a test run it stops with
 * the last caller.
 */
function kept<Server extends { stop(): Promise<void> }>(
  name: string,
  start: (folder: string) => Promise<Server>,
  empty: (server: Server) => Promise<void>,
): SharedServer<Server> {
  const runFolder = process.env[copiesVariable]
  if (runFolder === undefined) return shared(name, start)
  let running: Promise<Server> | undefined
  let users = 0

  async function startIn(): Promise<Server> {
    const server = await start(await mkdtemp(join(runFolder!, `${name}-`)))
    // Vitest ends its processes with this signal. Only on Linux does PostgreSQL end with its parent process by itself.
    process.once('SIGTERM', () => {
      void server.stop()
      process.kill(process.pid, 'SIGTERM')
    })
    return server
  }

  return {
    async acquire() {
      users += 1
      try {
        return await (running ??= startIn())
      } catch (error) {
        users -= 1
        // The next test file of this process tries again.
        running = undefined
        throw error
      }
    },
    async release() {
      const server = await running
      users -= 1
      if (server !== undefined && users === 0) await empty(server)
    },
  }
}

const emptyServer = shared('postgres', (folder) => startCopiedPostgres(folder, undefined))
const migratedServers = new Map<string, typeof emptyServer>()

function serverWith(migrationsFolder: string | undefined): typeof emptyServer {
  if (migrationsFolder === undefined) return emptyServer
  const found =
    migratedServers.get(migrationsFolder) ??
    kept('postgres', (folder) => startCopiedPostgres(folder, migrationsFolder), dropCopies)
  migratedServers.set(migrationsFolder, found)
  return found
}

const password = randomBytes(12).toString('hex')
const readerPassword = randomBytes(12).toString('hex')
const clickHouseServer = kept<ChdbGatewayProcess>(
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
