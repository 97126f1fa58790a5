import { setTimeout as sleep } from 'node:timers/promises'
import {
  migrateClickHouse,
  type MigrationWork,
} from '@tollgate/platform/usage-store/clickhouse/migrations'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { describe, expect, it } from 'vitest'
import { fillRollUps } from '../src/clickhouse/fill/fill-roll-ups.ts'
import { createObserver } from '../src/clickhouse/fill/fill-bounds.ts'
import { createView } from '../src/clickhouse/fill/filled-table.ts'
import { usageMigrations } from '../src/clickhouse/migrate.ts'
import { filledTables, usageByDay } from '../src/clickhouse/migrations/0012-roll-up-tables.ts'
import { filledRollUps } from '../src/clickhouse/migrations/0013-filled-roll-ups.ts'
import { createUsageTable } from '../src/clickhouse/usage-table.ts'
import { ProcessDied } from './interrupted.ts'
import { expectedSums, readSums, rowsOfOffsets, storeRows } from './stored-before.ts'
import {
  clickhouse,
  expectExactSums,
  fill,
  fillTimes,
  partitionCount,
  place,
  rows,
  storeEverywhere,
  storeNext,
  storeOnly,
  timeoutMs,
  useFilledStore,
  workWith,
} from './filled-store.ts'

useFilledStore()

/** A store whose process dies at a statement: before it reaches ClickHouse, or before its answer arrives. */
function dyingStore(at: number, reaches: boolean): { readonly store: UsageStore; total(): number } {
  const real = clickhouse.store
  let total = 0
  const dying = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    total += 1
    if (total < at) return act()
    if (total === at && reaches) await act()
    throw new ProcessDied()
  }
  return {
    store: {
      ...real,
      command: (statement) => dying(() => real.command(statement)),
      insert: (table, columns, inserted, token) =>
        // Claims are noted by a timer. Deaths are counted in statements of the fill itself.
        inserted.some((row) =>
          ['claim', 'released'].includes((row as { kind?: string }).kind ?? ''),
        )
          ? real.insert(table, columns, inserted, token)
          : dying(() => real.insert(table, columns, inserted, token)),
    },
    total: () => total,
  }
}

describe('the fill of the roll-ups', { timeout: timeoutMs }, () => {
  it('adds each record that was stored before once, also if it is stored twice', async () => {
    await storeEverywhere(40)
    await storeRows(clickhouse.store, place.database, rowsOfOffsets(1, 5, 25), 'again')
    await fill()
    await expectExactSums()
    await storeEverywhere(20)
    await expectExactSums()
  })

  it('fills months in which a roll-up has no rows', async () => {
    const stored = rowsOfOffsets(0, 0, 40)
    await storeOnly(stored.filter(({ dimensions }) => Object.keys(dimensions).length === 0))
    await fill()
    await expectExactSums()
  })

  it('replaces roll-ups of the shape before 0.1.0, also in several processes at once', async () => {
    const { store, connection } = clickhouse
    await storeEverywhere(20)
    await store.command(`DROP TABLE ${place.database}.usage_by_purchase SYNC`)
    await store.command(
      `CREATE TABLE ${place.database}.usage_by_purchase
       (provider_id String, meter_name String, customer_ref String, hour DateTime('UTC'), value Decimal(38, 6))
       ENGINE = SummingMergeTree PARTITION BY toYYYYMM(hour) ORDER BY (provider_id, meter_name, customer_ref, hour)`,
    )
    await store.command(
      `CREATE MATERIALIZED VIEW ${place.database}.usage_by_purchase_view TO ${place.database}.usage_by_purchase AS
       SELECT provider_id, meter_name, customer_ref, toDateTime(toStartOfHour(timestamp), 'UTC') AS hour, value
       FROM ${place.database}.usage_records`,
    )
    await store.command(
      `ALTER TABLE ${place.database}.schema_migrations DELETE WHERE name >= '0012' SETTINGS mutations_sync = 2`,
    )
    const migrate = () => migrateClickHouse(connection, place.database, usageMigrations)
    await Promise.all([migrate(), migrate()])
    await storeEverywhere(5)
    await expectExactSums()
  })

  it('fills nothing of an empty store, and leaves no views or tables of its own that get rows', async () => {
    await fill()
    await storeEverywhere(10)
    await expectExactSums()
    const found = await clickhouse.store.query(
      `SELECT name FROM system.tables WHERE database = '${place.database}'
         AND (name LIKE '%first_offsets%' OR match(name, '_fill_'))`,
    )
    expect(found).toEqual([{ name: 'roll_up_first_offsets_0013' }])
  })

  it('leaves the views complete that another process is creating', async () => {
    const { store } = clickhouse
    const statements = filledRollUps.statements(place)
    const view = statements.findIndex((statement) => statement.includes('first_offsets_0013_view'))
    for (const statement of statements.slice(0, view)) await store.command(statement)
    await fill()
    for (const statement of statements.slice(view)) await store.command(statement)
    await storeEverywhere(10)
    await fill()
    await expectExactSums()
  })

  it('adds nothing if a second process begins on the empty store and continues after usage was stored', async () => {
    await fill()
    await storeEverywhere(10)
    await fill()
    await expectExactSums()
  })

  it.each([0, 1, 2])(
    'is exact if its process dies on an empty store, %s statements after the views, and an older sink stores',
    async (later) => {
      const { store } = dyingStore(filledRollUps.statements(place).length + later, true)
      await expect(fill({ store, longStore: store })).rejects.toThrow(ProcessDied)
      await storeEverywhere(10)
      await fill()
      await expectExactSums()
    },
  )

  it('writes only into tables whose rows are on the disk when an insert is acknowledged', async () => {
    await storeEverywhere(20)
    const { store } = clickhouse
    const isSynced = new Map<string, boolean>()
    const inspecting: UsageStore = {
      ...store,
      async command(statement) {
        const tables = await store.query<{ name: string; settings: string }>(
          `SELECT name, engine_full AS settings FROM system.tables
           WHERE database = '${place.database}' AND match(name, '^roll_up_|_fill_') AND engine LIKE '%MergeTree'`,
        )
        for (const { name, settings } of tables) {
          const synced = [
            'fsync_after_insert',
            'fsync_part_directory',
            'min_rows_to_fsync_after_merge',
          ]
          const key = name.replace(/_[0-9a-f]{16}$/, '')
          isSynced.set(
            key,
            synced.every((setting) => settings.includes(`${setting} = 1`)),
          )
        }
        await store.command(statement)
      },
    }
    await fill({ longStore: inspecting })
    const names = filledTables.map(({ table }) => `${table.name}_fill`)
    expect(Object.fromEntries(isSynced)).toEqual(
      Object.fromEntries(
        [...names, 'roll_up_fill', 'roll_up_first_offsets_0013'].map((name) => [name, true]),
      ),
    )
  })

  it('has bounds of its own for a roll-up that is added later', async () => {
    await storeEverywhere(20)
    await fill()
    await storeEverywhere(10)
    const later = { ...usageByDay, table: { ...usageByDay.table, name: 'usage_by_day_again' } }
    const statements = [
      ...createUsageTable(later.table, place),
      ...createObserver('0014', 'rolled_up_records', place),
      createView(later, 'rolled_up_records', place),
    ]
    for (const statement of statements) await clickhouse.store.command(statement)
    await storeEverywhere(5)
    await fillRollUps(workWith(), { fill: '0014', tables: [later] }, fillTimes)
    expect(
      await readSums(clickhouse.store, place.database, 'usage_by_day', later.table.name),
    ).toEqual(expectedSums('usage_by_day', rows))
    await expectExactSums()
  })

  it('adds records that belong to no log, once', async () => {
    await storeOnly(rowsOfOffsets(0, 0, 20).map((row) => ({ ...row, offset: offsetOfNoLog })))
    await fill()
    await expectExactSums()
    await fill()
    await expectExactSums()
  })

  it.each([true, false])(
    'is exact if its process dies at every statement in turn, which reached ClickHouse: %s',
    async (reaches) => {
      await storeEverywhere(30)
      let deaths = 0
      for (let at = 1; ; at += 1) {
        const { store } = dyingStore(at, reaches)
        const died = await fill({ store, longStore: store }).then(
          () => false,
          (error: unknown) => {
            expect(error).toBeInstanceOf(ProcessDied)
            return true
          },
        )
        if (!died) break
        deaths += 1
        // A sink of an older version stores on between the attempts.
        await storeNext(at % partitionCount, 2)
      }
      expect(deaths).toBeGreaterThan(15)
      await expectExactSums()
    },
  )

  it('is exact while sinks of an older version store', async () => {
    await storeEverywhere(40)
    let isEnded = false
    const sink = async (partition: number): Promise<void> => {
      while (!isEnded) {
        await storeNext(partition, 3)
        await sleep(5)
      }
    }
    const sinks = Array.from({ length: partitionCount }, (_, partition) => sink(partition))
    try {
      await fill()
    } finally {
      isEnded = true
      await Promise.all(sinks)
    }
    expect(rows.length).toBeGreaterThan(partitionCount * 60)
    await expectExactSums()
  })

  it('is exact if sinks store between any two of its statements', async () => {
    await storeEverywhere(10)
    const { store } = clickhouse
    const interposing: UsageStore = {
      ...store,
      async command(statement) {
        await store.command(statement)
        await storeEverywhere(2)
      },
    }
    await fill({ store: interposing, longStore: interposing })
    await expectExactSums()
  })

  it('may be run by several processes at once, of which one fills', async () => {
    await storeEverywhere(40)
    const months: unknown[] = []
    const report: MigrationWork['report'] = (fields) => months.push(fields['month'])
    let fills = 0
    const { store } = clickhouse
    const counting: UsageStore = {
      ...store,
      command: (statement) => {
        if (statement.startsWith('INSERT')) fills += 1
        return store.command(statement)
      },
    }
    // With a shorter time, two processes may fill, which changes no sum.
    const rarelyTwo = { ...fillTimes, visibleAfterMs: 2_000 }
    const run = () => fill({ report, longStore: counting }, filledTables, rarelyTwo)
    await Promise.all([run(), run(), run()])
    await expectExactSums()
    expect(fills).toBe(filledTables.length * 3)
    expect(months.slice(0, 3)).toEqual(['202603', '202602', '202601'])
  })
})
