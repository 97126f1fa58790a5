import { setTimeout as sleep } from 'node:timers/promises'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import {
  migrateClickHouse,
  type MigrationWork,
} from '@tollgate/platform/usage-store/clickhouse/migrations'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimFill, type ClaimTimes } from '../src/clickhouse/fill/fill-claim.ts'
import { fillRollUps } from '../src/clickhouse/fill/fill-roll-ups.ts'
import { createObserver } from '../src/clickhouse/fill/fill-bounds.ts'
import { createView, type FilledTable } from '../src/clickhouse/fill/filled-table.ts'
import { usageMigrations } from '../src/clickhouse/migrate.ts'
import { filledTables, usageByDay } from '../src/clickhouse/migrations/0012-roll-up-tables.ts'
import { filledRollUps } from '../src/clickhouse/migrations/0013-filled-roll-ups.ts'
import { createUsageTable } from '../src/clickhouse/usage-table.ts'
import { ProcessDied } from './interrupted.ts'
import {
  expectedSums,
  modelledTables,
  readSums,
  rowsOfOffsets,
  storeRows,
  type StoredRow,
} from './stored-before.ts'

const timeoutMs = 120_000
const place = { database: 'filled', cluster: undefined }
const times: ClaimTimes = { leaseMs: 1_500, beatMs: 100, visibleAfterMs: 30 }
/** A busy machine may take seconds to store a claim. No test of a fill waits for a lease to end. */
const fillTimes: ClaimTimes = { ...times, leaseMs: 60_000 }
const partitionCount = 3

let clickhouse: TestUsageStore
beforeAll(async () => (clickhouse = await startTestUsageStore()))
afterAll(() => clickhouse.stop())

let rows: StoredRow[]
let offsets: number[]

/** Every test begins with the tables before the fill. */
beforeEach(async () => {
  await clickhouse.store.command(`DROP DATABASE IF EXISTS ${place.database} SYNC`)
  const before = usageMigrations.filter(({ name }) => name < '0013')
  await migrateClickHouse(clickhouse.connection, place.database, before)
  rows = []
  offsets = Array.from({ length: partitionCount }, () => 0)
}, timeoutMs)

/** Stores the next offsets of a partition, as the sink does. */
async function storeNext(partition: number, total: number): Promise<void> {
  const from = offsets[partition]!
  offsets[partition] = from + total
  const batch = rowsOfOffsets(partition, from, from + total)
  rows.push(...batch)
  await storeRows(clickhouse.store, place.database, batch, `${partition}-${from}`)
}

async function storeEverywhere(total: number): Promise<void> {
  for (let partition = 0; partition < partitionCount; partition += 1) {
    await storeNext(partition, total)
  }
}

function workWith(changed: Partial<MigrationWork> = {}): MigrationWork {
  const { store } = clickhouse
  const signal = new AbortController().signal
  return { place, store, longStore: store, report: () => undefined, signal, ...changed }
}

/** Does what the migration does. */
async function fill(
  changed?: Partial<MigrationWork>,
  tables: readonly FilledTable[] = filledTables,
  claimTimes = fillTimes,
): Promise<void> {
  const work = workWith(changed)
  for (const statement of filledRollUps.statements(place)) await work.store.command(statement)
  await fillRollUps(work, { fill: '0013', tables }, claimTimes)
}

async function expectExactSums(): Promise<void> {
  for (const table of modelledTables) {
    expect(await readSums(clickhouse.store, place.database, table), table).toEqual(
      expectedSums(table, rows),
    )
  }
  const customers = new Set(
    rows.filter(({ outcome }) => outcome === 'success').map(({ customerRef }) => customerRef),
  )
  expect(
    await clickhouse.store.query(
      `SELECT toString(uniqCombined64Merge(15)(customers)) AS total FROM ${place.database}.active_customers`,
    ),
  ).toEqual([{ total: String(customers.size) }])
}

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
    rows = rowsOfOffsets(0, 0, 40).filter(({ dimensions }) => Object.keys(dimensions).length === 0)
    await storeRows(clickhouse.store, place.database, rows, 'without dimensions')
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
    rows = rowsOfOffsets(0, 0, 20).map((row) => ({ ...row, offset: offsetOfNoLog }))
    await storeRows(clickhouse.store, place.database, rows, 'moved')
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

/** Takes 50 ms per record. */
const slowTable: FilledTable = { ...usageByDay, condition: 'sleepEachRow(0.05) = 0' }

/** Takes longer for the newest month of 40 records in each partition than a test waits. */
const slowestTable: FilledTable = { ...usageByDay, condition: 'sleepEachRow(1) = 0' }
const slowestMs = 20_000

/** Returns a store whose statements may sleep for more than 3 s per block. */
function sleeping(store: UsageStore): UsageStore {
  const allowed = 'function_sleep_max_microseconds_per_block = 0'
  return {
    ...store,
    command: (statement) => store.command(statement.replace('SETTINGS ', `SETTINGS ${allowed}, `)),
  }
}

describe('a slow fill', { timeout: timeoutMs }, () => {
  const short = () =>
    createClickHouseUsageStore({ ...clickhouse.connection, requestTimeoutMs: 1_000 })
  let stores: UsageStore[] = []
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    stores = []
  })
  const opened = (store: UsageStore): UsageStore => {
    stores.push(store)
    return store
  }

  it('may take longer than other requests', async () => {
    await storeEverywhere(40)
    await fill({ store: opened(short()) }, [slowTable])
    expect(await readSums(clickhouse.store, place.database, 'usage_by_day')).toEqual(
      expectedSums('usage_by_day', rows),
    )
  })

  it('does not wait for a query that ClickHouse continues after its process gave up, and counts nothing twice', async () => {
    await storeEverywhere(40)
    const longStore = sleeping(opened(short()))
    await expect(fill({ longStore }, [slowestTable])).rejects.toThrow(/did not answer/)
    const begun = performance.now()
    await fill({}, [usageByDay])
    expect(performance.now() - begun).toBeLessThan(slowestMs / 2)
    expect(await readSums(clickhouse.store, place.database, 'usage_by_day')).toEqual(
      expectedSums('usage_by_day', rows),
    )
  })

  it('ends soon when its process stops, and is continued', async () => {
    await storeEverywhere(40)
    const stopping = new AbortController()
    const long = sleeping(opened(createClickHouseUsageStore(clickhouse.connection)))
    let begun = Infinity
    const longStore: UsageStore = {
      ...long,
      command(statement) {
        begun = performance.now()
        setTimeout(() => stopping.abort(), 500)
        return long.command(statement)
      },
    }
    await expect(fill({ longStore, signal: stopping.signal }, [slowestTable])).rejects.toThrow(
      /QUERY_WAS_CANCELLED/,
    )
    expect(performance.now() - begun).toBeLessThan(slowestMs / 2)
    await fill({}, [usageByDay])
    expect(await readSums(clickhouse.store, place.database, 'usage_by_day')).toEqual(
      expectedSums('usage_by_day', rows),
    )
  })
})

describe('the claim of a fill', { timeout: timeoutMs }, () => {
  const claim = (owner: string, signal = new AbortController().signal) =>
    claimFill(clickhouse.store, place, owner, signal, times)

  it('is given to the next process when it is released', async () => {
    const first = await claim('first')
    let isSecond = false
    const second = claim('second').then((held) => {
      isSecond = true
      return held
    })
    await sleep(times.leaseMs * 2)
    expect(isSecond).toBe(false)
    await first.release()
    await (await second).release()
  })

  it('of a dead process ends with its lease', async () => {
    await clickhouse.store.command(
      `INSERT INTO ${place.database}.roll_up_fill (kind, name, key, value) VALUES ('claim', 'dead', 0, 0)`,
    )
    const held = await claim('next')
    held.requireHeld()
    await held.release()
  })

  it('is not waited for by a process that stops', async () => {
    const first = await claim('first')
    const stopping = new AbortController()
    setTimeout(() => stopping.abort(), 50)
    await expect(claim('second', stopping.signal)).rejects.toThrow(/abort/)
    await first.release()
  })
})
