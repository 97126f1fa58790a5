import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  spawnChdbGateway,
  type ChdbGatewayProcess,
} from '../src/chdb-gateway/spawn-chdb-gateway.ts'
import {
  createUsageTables,
  usageColumns,
  usageRows,
  type UsageRow,
  usageStoreContract,
} from '../src/testing/usage-store-contract.ts'
import { createClickHouseUsageStore } from '../src/usage-store/clickhouse/clickhouse-usage-store.ts'
import type { MigratedPlace } from '../src/usage-store/clickhouse/migrated-place.ts'
import { migrateClickHouse } from '../src/usage-store/clickhouse/migrations.ts'
import { requireSameTopology } from '../src/usage-store/clickhouse/versions-table.ts'
import { UsageStoreUnavailableError, type UsageStore } from '../src/usage-store/usage-store.ts'

const password = 'correct horse: battery'
let folder: string
let gateway: ChdbGatewayProcess
let store: UsageStore
let unreachable: UsageStore

function connect(url: string, key = password): UsageStore {
  return createClickHouseUsageStore({
    url,
    username: 'default',
    password: key,
    requestTimeoutMs: 20_000,
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-chdb-'))
  gateway = await spawnChdbGateway({ folder, password })
  store = connect(gateway.url)
  unreachable = connect('http://127.0.0.1:1')
})

afterAll(async () => {
  await store.close()
  await unreachable.close()
  await gateway.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('ClickHouse through the gateway', () => {
  usageStoreContract(() => ({ store, unreachable }))

  it('refuses a wrong password', async () => {
    const stranger = connect(gateway.url, 'wrong')
    await expect(stranger.query('SELECT 1')).rejects.toMatchObject({ code: 516 })
    await stranger.close()
  })
})

describe('a usage store that dies', () => {
  /*
   * The batch that a kill interrupts may be missing even after it is repeated, in the table or behind the view: ClickHouse writes
   * its token first and its rows a moment later. A caller that needs all of it must check (see
   * docs/decisions/clickhouse.md, A redo looks at what is stored).
   */
  it('has acknowledged batches once in table and view, and an interrupted batch completely or not at all', async () => {
    const own = await mkdtemp(join(tmpdir(), 'tollgate-chdb-'))
    let dying = await spawnChdbGateway({ folder: own, password })
    let through = connect(dying.url)
    const tables = await createUsageTables(through)
    const acknowledged = new Set<string>()
    const cutOff = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      const inserting = insertUntilItFails(through, tables.source, round)
      await sleep(60 + 53 * round)
      dying.process.kill('SIGKILL')
      const begun = await inserting
      await through.close()
      dying = await spawnChdbGateway({ folder: own, password })
      through = connect(dying.url)
      // The acknowledged batches and the interrupted one, both repeated.
      for (let repeat = 0; repeat < 2; repeat += 1) {
        for (let batch = 0; batch < begun; batch += 1) {
          await through.insert(
            tables.source,
            usageColumns,
            batchOf(round, batch),
            `${round}-${batch}`,
          )
        }
      }
      for (let batch = 0; batch < begun - 1; batch += 1) acknowledged.add(customerOf(round, batch))
      cutOff.add(customerOf(round, begun - 1))
      const stored = await rowsByCustomer(
        through,
        `SELECT customer, count() AS rows FROM ${tables.source}`,
      )
      const viewed = await rowsByCustomer(
        through,
        `SELECT customer, sum(records) AS rows FROM ${tables.target}`,
      )
      for (const found of [stored, viewed]) {
        expect([...acknowledged].filter((customer) => !found.has(customer))).toEqual([])
        for (const [customer, rows] of found) {
          expect({ customer, rows }).toEqual({ customer, rows: rowsPerBatch })
          expect(acknowledged.has(customer) || cutOff.has(customer)).toBe(true)
        }
      }
    }
    await through.close()
    await dying.stop()
    await rm(own, { recursive: true, force: true })
  })

  const rowsPerBatch = 2000

  const customerOf = (round: number, batch: number): string => `r${round}b${batch}`
  const batchOf = (round: number, batch: number): UsageRow[] =>
    usageRows(customerOf(round, batch), rowsPerBatch)

  async function rowsByCustomer(through: UsageStore, sums: string): Promise<Map<string, number>> {
    const found = await through.query<{ customer: string; rows: string }>(
      `${sums} GROUP BY customer`,
    )
    return new Map(found.map(({ customer, rows }) => [customer, Number(rows)]))
  }

  /** Resolves with the number of started batches, the last of which failed. */
  async function insertUntilItFails(
    through: UsageStore,
    table: string,
    round: number,
  ): Promise<number> {
    for (let batch = 0; ; batch += 1) {
      try {
        await through.insert(table, usageColumns, batchOf(round, batch), `${round}-${batch}`)
      } catch (error) {
        expect(error).toBeInstanceOf(UsageStoreUnavailableError)
        return batch + 1
      }
    }
  }

  it('rejects while it does not answer in time', async () => {
    const impatient = createClickHouseUsageStore({
      url: gateway.url,
      username: 'default',
      password,
      requestTimeoutMs: 200,
    })
    await expect(impatient.query('SELECT sleep(1)')).rejects.toThrow(UsageStoreUnavailableError)
    await impatient.close()
  })
})

describe('migrations of ClickHouse', () => {
  const connection = () => ({
    url: gateway.url,
    username: 'default',
    password,
    requestTimeoutMs: 20_000,
  })
  const first = {
    name: '0001-rows',
    statements: ({ database }: MigratedPlace) => [
      `CREATE TABLE IF NOT EXISTS ${database}.notes (a UInt32) ENGINE = MergeTree ORDER BY a`,
      `ALTER TABLE ${database}.notes ADD COLUMN IF NOT EXISTS b String`,
    ],
  }
  const second = {
    name: '0002-more',
    statements: ({ database }: MigratedPlace) => [
      `INSERT INTO ${database}.notes VALUES (1, $$x; y$$)`,
    ],
  }

  it('runs pending migrations once, in a separate database', async () => {
    await migrateClickHouse(connection(), 'migrated', [first])
    await migrateClickHouse(connection(), 'migrated', [first, second])
    await migrateClickHouse(connection(), 'migrated', [first, second])
    expect(await store.query('SELECT a, b FROM migrated.notes')).toEqual([{ a: 1, b: 'x; y' }])
    await migrateClickHouse(connection(), 'other', [first])
    expect(await store.query('SELECT a FROM other.notes')).toEqual([])
  })

  it('can be run by several processes at once', async () => {
    await Promise.all(
      Array.from({ length: 4 }, () => migrateClickHouse(connection(), 'crowded', [first])),
    )
    expect(await store.query('SELECT DISTINCT name FROM crowded.schema_migrations')).toEqual([
      { name: '0001-rows' },
    ])
  })

  it('refuses a database of a newer release with one sentence', async () => {
    await migrateClickHouse(connection(), 'newer', [first, second])
    await expect(migrateClickHouse(connection(), 'newer', [first])).rejects.toThrow(
      'The ClickHouse database newer was written by a newer version of Tollgate (it has 0002-more): start that version or a later one.',
    )
  })
  it('refuses tables of a single server if a cluster is configured, before it changes any', async () => {
    await migrateClickHouse(connection(), 'single', [first])
    const place = { database: 'single', cluster: 'main' }
    await expect(requireSameTopology(store, place)).rejects.toThrow(
      /was made for a single server, and TOLLGATE_CLICKHOUSE_CLUSTER is main/,
    )
    await requireSameTopology(store, { ...place, cluster: undefined })
    await requireSameTopology(store, { ...place, database: 'not_made_yet' })
  })
})
