import { startClusterEngine, type ClusterEngine } from '@tollgate/platform/testing/cluster-engine'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { versionsTable } from '@tollgate/platform/usage-store/clickhouse/versions-table'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sumStoredUsageByWindow } from '@tollgate/domain/stored-usage/query-stored-usage'
import { listTotalledRanges, totalsStampOf } from '@tollgate/domain/stored-usage/totalled-ranges'
import { firstNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { requireCaughtUp } from '../src/clickhouse/caught-up.ts'
import { nameStoreIncarnation } from '../src/consume/store-check.ts'
import { stepTotals } from '../src/consume/step-totals.ts'
import { clusterStore } from './cluster-store.ts'
import { usageMigrations } from '../src/clickhouse/migrate.ts'
import { createUsageTable, type UsageTable } from '../src/clickhouse/usage-table.ts'
import { usageRecordsTable } from '../src/clickhouse/migrations/0001-usage-records.ts'
import { filledRollUps } from '../src/clickhouse/migrations/0013-filled-roll-ups.ts'
import { unreadableRecordsTable } from '../src/clickhouse/migrations/0003-unreadable-records.ts'
import { usageByHourTable } from '../src/clickhouse/migrations/0002-usage-by-hour.ts'

/*
 * These tests run ClickHouse's own engine without Keeper. Every statement for a cluster is parsed unchanged. The engine checks
 * replicated tables until it requires Keeper. Distributed tables are created and used on a cluster of one server. ON CLUSTER,
 * replication and more than one shard are not tested.
 */

const place = { database: 'live', cluster: 'main' }
const statements = [
  versionsTable(place),
  ...usageMigrations.flatMap((migration) => migration.statements(place)),
]
const withoutOnCluster = (statement: string): string => statement.replace(' ON CLUSTER `main`', '')

let engine: ClusterEngine
beforeAll(async () => {
  engine = await startClusterEngine()
  await engine.run('CREATE DATABASE live')
})
afterAll(() => engine.stop())

describe('the statements for a cluster', () => {
  it.each(statements)('are parsed by the engine, each for all servers: %s', async (statement) => {
    expect(statement).toContain(' ON CLUSTER `main`')
    expect(await engine.run(`EXPLAIN AST ${statement}`)).not.toEqual([])
  })

  it.each(statements.filter((statement) => statement.includes('= Replicated')))(
    'fail only because Keeper is missing: %s',
    async (statement) => {
      await expect(engine.run(withoutOnCluster(statement))).rejects.toThrow(/NO_ZOOKEEPER/)
    },
  )

  it('are refused earlier if they contain an error', async () => {
    const [good] = createUsageTable(usageRecordsTable, place)
    const refused = (text: string, by: string): Promise<unknown> =>
      engine.run(withoutOnCluster(good!).replace(text, by))
    await expect(refused('timestamp, id)', 'timestamp, idd)')).rejects.toThrow(/UNKNOWN_IDENTIFIER/)
    await expect(refused('window_seconds', 'window_second')).rejects.toThrow(/UNKNOWN_SETTING/)
  })

  it.each([usageRecordsTable, usageByHourTable, unreadableRecordsTable])(
    'shards $name by columns of its sorting key, so that rows which merge are on one shard',
    ({ shardedBy, layout }: UsageTable) => {
      const ordered = /ORDER BY \((.*)\)/.exec(layout)![1]!.split(', ')
      const used = shardedBy.replace(/^cityHash64\((.*)\)$/, '$1').split(', ')
      expect(ordered).toEqual(expect.arrayContaining(used))
    },
  )
})

describe('tables behind distributed tables', () => {
  const insert = (token: string): Promise<unknown> =>
    engine.run(
      `INSERT INTO live.usage_records
         (id, provider_id, customer_ref, meter_name, value, timestamp, outcome)
       SELECT concat('${token}-', toString(number)), 'prv', concat('cus_', toString(number % 7)), 'requests', 1.5,
         toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number * 3000, if(number % 10 = 0, 'fail', 'success')
       FROM numbers(1000)
       SETTINGS insert_deduplication_token = '${token}', async_insert = 0, distributed_foreground_insert = 1,
         deduplicate_blocks_in_dependent_materialized_views = 1`,
    )

  it('store a repeated insert once, in the records and in the roll-up', async () => {
    for (const statement of statements.slice(1)) await engine.run(onOneServer(statement))
    for (const token of ['first', 'first', 'second', 'first']) await insert(token)
    const [found] = await engine.run(`
      SELECT count() AS records, uniqExact(id) AS ids, sumIf(value, outcome = 'success') AS counted,
        (SELECT count() FROM live.usage_records FINAL) AS merged,
        (SELECT sum(value) FROM live.usage_by_hour) AS rolled_up
      FROM live.usage_records`)
    expect(found).toEqual({
      records: 2000,
      ids: 2000,
      merged: 2000,
      counted: 2700,
      rolled_up: 2700,
    })
  })

  it('have totals that add up to the records', async () => {
    const store = clusterStore(engine)
    const comparedIncarnation = await nameStoreIncarnation(store, 'live')
    const note = writeSinkNote({ ...firstNote('m'), generation: 'g', comparedIncarnation })
    await engine.run(
      `INSERT INTO live.usage_records (id, provider_id, customer_ref, meter_name, value, timestamp,
         outcome, log_partition, log_offset)
       SELECT concat('total-', toString(number)), 'prv_totals', concat('cus_', toString(number % 7)), 'requests', 1.5,
         toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number * 30, 'success', 3, number
       FROM numbers(1000) SETTINGS distributed_foreground_insert = 1`,
    )
    const parts = {
      log: { position: async () => ({ offset: 950, note }) },
      usageStore: store,
      cluster: 'main',
      environment: 'live' as const,
      topic: usageTopic('live'),
      partition: 3,
      rangeRecords: 300,
    }
    for (const kind of ['totalled', 'totalled', 'totalled', 'complete']) {
      expect((await stepTotals(parts)).kind).toBe(kind)
    }
    const part = { partition: 3, beforeOffset: 950, totals: totalsStampOf(note) }
    expect(await listTotalledRanges(store, 'live', [part])).toHaveLength(3)
    const query = {
      environment: 'live' as const,
      providerId: 'prv_totals',
      customerRefs: ['cus_1', 'cus_2'],
      productRef: 'prd_a',
      meterName: 'requests',
    }
    const fromSecond = Date.UTC(2026, 2, 1) / 1_000 + 61
    const window = { fromSecond, toSecond: fromSecond + 26_000 }
    const counted = Array.from({ length: 1_000 }, (_, at) => at).filter(
      (at) => at * 30 >= 61 && at * 30 < 26_061 && [1, 2].includes(at % 7),
    )
    expect(await sumStoredUsageByWindow(store, query, [window], [part])).toEqual([
      BigInt(counted.length) * 1_500_000n,
    ])
  })

  it('are filled by statements that a cluster accepts, once every replica has the rows', async () => {
    const filled = { database: 'filled', cluster: 'main' }
    const migrate = async (migrations: typeof usageMigrations): Promise<void> => {
      for (const statement of migrations.flatMap((migration) => migration.statements(filled))) {
        await engine.run(onOneServer(statement))
      }
    }
    await engine.run('DROP DATABASE IF EXISTS filled')
    await engine.run('CREATE DATABASE filled')
    await migrate(usageMigrations.filter(({ name }) => name < '0013'))
    const use = (from: number): Promise<unknown> =>
      engine.run(
        `INSERT INTO filled.usage_records (id, provider_id, customer_ref, meter_name, value, timestamp,
           outcome, log_partition, log_offset)
         SELECT concat('fill-', toString(number)), 'prv', concat('cus_', toString(number % 7)), 'requests', 1.5,
           toDateTime64('2026-03-30 00:00:00', 3, 'UTC') + number * 3000, 'success', 3, number
         FROM numbers(${from}, 100) SETTINGS distributed_foreground_insert = 1`,
      )
    await use(0)
    await migrate(usageMigrations.filter(({ name }) => name >= '0013'))
    await use(100)

    const commands: string[] = []
    const real = clusterStore(engine)
    const store: UsageStore = {
      ...real,
      async command(statement) {
        commands.push(statement)
        // Only replicated tables have replicas.
        if (!statement.startsWith('SYSTEM SYNC')) await real.command(onOneServer(statement))
      },
    }
    const signal = new AbortController().signal
    const work = { place: filled, store, longStore: store, report: () => undefined, signal }
    await filledRollUps.work!(work)

    for (const table of ['usage_by_purchase', 'usage_by_meter', 'usage_by_day']) {
      expect(
        await engine.run(
          `SELECT sum(value) AS value, sum(records) AS records FROM filled.${table}`,
        ),
      ).toEqual([{ value: 300, records: 200 }])
    }
    for (const statement of commands) {
      if (!statement.startsWith('INSERT')) expect(statement).toContain(' ON CLUSTER `main`')
      expect(await engine.run(`EXPLAIN AST ${statement}`)).not.toEqual([])
    }
    expect(commands[0]).toBe('SYSTEM SYNC REPLICA ON CLUSTER `main` filled.usage_records_local')
    const replacing = commands.flatMap((statement, index) => {
      const own = /REPLACE PARTITION .* FROM (\S+)/.exec(statement)?.[1]
      return own === undefined ? [] : [{ own, before: commands.slice(0, index) }]
    })
    expect(replacing).toHaveLength(8)
    for (const { own, before } of replacing) {
      const isSync = (statement: string) =>
        statement.startsWith('SYSTEM SYNC') && statement.endsWith(own)
      const isInsert = (statement: string) =>
        statement.startsWith(`INSERT INTO ${own.replace('_local', '')} `)
      expect(before.findLastIndex(isSync)).toBeGreaterThan(before.findLastIndex(isInsert))
    }
  }, 60_000)

  it('are all checked for replicas that lack blocks', async () => {
    const store = clusterStore(engine)
    let asked: unknown
    const asking: Pick<UsageStore, 'query'> = {
      query: (statement, parameters) => {
        asked = parameters!['tables']
        return store.query(statement, parameters)
      },
    }
    await requireCaughtUp(asking, 'live', 'main')
    const local = await store.query<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = 'live' AND endsWith(name, '_local') AND name NOT LIKE 'roll_up_%' ORDER BY name`,
    )
    expect((asked as string[]).toSorted()).toEqual(local.map(({ name }) => name))
  })
})

/** Returns the statement without the parts that need Keeper. */
function onOneServer(statement: string): string {
  return withoutOnCluster(statement)
    .replace(/Replicated(\w+)\([^)]*\)/, '$1')
    .replace(
      /replicated_deduplication_window = (\d+),\s*replicated_\w+ = \d+/,
      'non_replicated_deduplication_window = $1',
    )
}
