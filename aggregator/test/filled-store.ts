import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import {
  migrateClickHouse,
  type MigrationWork,
} from '@tollgate/platform/usage-store/clickhouse/migrations'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { ClaimTimes } from '../src/clickhouse/fill/fill-claim.ts'
import { fillRollUps } from '../src/clickhouse/fill/fill-roll-ups.ts'
import type { FilledTable } from '../src/clickhouse/fill/filled-table.ts'
import { usageMigrations } from '../src/clickhouse/migrate.ts'
import { filledTables } from '../src/clickhouse/migrations/0012-roll-up-tables.ts'
import { filledRollUps } from '../src/clickhouse/migrations/0013-filled-roll-ups.ts'
import {
  expectedSums,
  modelledTables,
  readSums,
  rowsOfOffsets,
  storeRows,
  type StoredRow,
} from './stored-before.ts'

export const timeoutMs = 120_000
export const place = { database: 'filled', cluster: undefined }
export const times: ClaimTimes = { leaseMs: 1_500, beatMs: 100, visibleAfterMs: 30 }
/** A busy machine may take seconds to store a claim. No test of a fill waits for a lease to end. */
export const fillTimes: ClaimTimes = { ...times, leaseMs: 60_000 }
export const partitionCount = 3

export let clickhouse: TestUsageStore
export let rows: StoredRow[]
let offsets: number[]

/** Starts a store for the tests of a file. Every test begins with the tables before the fill. */
export function useFilledStore(): void {
  beforeAll(async () => (clickhouse = await startTestUsageStore()))
  afterAll(() => clickhouse.stop())
  beforeEach(async () => {
    await clickhouse.store.command(`DROP DATABASE IF EXISTS ${place.database} SYNC`)
    const before = usageMigrations.filter(({ name }) => name < '0013')
    await migrateClickHouse(clickhouse.connection, place.database, before)
    rows = []
    offsets = Array.from({ length: partitionCount }, () => 0)
  }, timeoutMs)
}

/** Stores these records instead of the next offsets of the partitions. */
export async function storeOnly(stored: readonly StoredRow[]): Promise<void> {
  rows = [...stored]
  await storeRows(clickhouse.store, place.database, rows, 'only')
}

/** Stores the next offsets of a partition, as the sink does. */
export async function storeNext(partition: number, total: number): Promise<void> {
  const from = offsets[partition]!
  offsets[partition] = from + total
  const batch = rowsOfOffsets(partition, from, from + total)
  rows.push(...batch)
  await storeRows(clickhouse.store, place.database, batch, `${partition}-${from}`)
}

export async function storeEverywhere(total: number): Promise<void> {
  for (let partition = 0; partition < partitionCount; partition += 1) {
    await storeNext(partition, total)
  }
}

export function workWith(changed: Partial<MigrationWork> = {}): MigrationWork {
  const { store } = clickhouse
  const signal = new AbortController().signal
  return { place, store, longStore: store, report: () => undefined, signal, ...changed }
}

/** Does what the migration does. */
export async function fill(
  changed?: Partial<MigrationWork>,
  tables: readonly FilledTable[] = filledTables,
  claimTimes = fillTimes,
): Promise<void> {
  const work = workWith(changed)
  for (const statement of filledRollUps.statements(place)) await work.store.command(statement)
  await fillRollUps(work, { fill: '0013', tables }, claimTimes)
}

export async function expectExactSums(): Promise<void> {
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
