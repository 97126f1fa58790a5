import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  UsageStoreStatementError,
  UsageStoreUnavailableError,
  type Column,
  type UsageStore,
} from '../usage-store/usage-store.ts'

export type UsageStoreUnderTest = {
  readonly store: UsageStore
  /** A store with an address that does not answer. */
  readonly unreachable: UsageStore
}

/** Tests that every UsageStore must pass. Call it inside a `describe`; each test calls `given` again. */
export function usageStoreContract(given: () => UsageStoreUnderTest): void {
  it('answers a ping, and rejects if the address does not answer', async () => {
    await given().store.ping()
    await expect(given().unreachable.ping()).rejects.toThrow(UsageStoreUnavailableError)
    await expect(given().unreachable.query('SELECT 1')).rejects.toThrow(UsageStoreUnavailableError)
  })

  it('inserts a batch once per token, in the table and behind its view', async () => {
    const { store } = given()
    const tables = await createUsageTables(store)
    const batch = usageRows('a', 500)
    await store.insert(tables.source, usageColumns, batch, 'first')
    await store.insert(tables.source, usageColumns, batch, 'first')
    expect(await countsOf(store, tables)).toEqual({ rows: 500, viewed: 500 })
    await store.insert(tables.source, usageColumns, usageRows('b', 20), 'second')
    expect(await countsOf(store, tables)).toEqual({ rows: 520, viewed: 520 })
  })

  it('inserts the same rows twice with two tokens', async () => {
    const { store } = given()
    const tables = await createUsageTables(store)
    await store.insert(tables.source, usageColumns, usageRows('a', 10), 'first')
    await store.insert(tables.source, usageColumns, usageRows('a', 10), 'second')
    expect(await countsOf(store, tables)).toEqual({ rows: 20, viewed: 20 })
  })

  it('finds columns by name, converts types, and sets defaults for missing columns', async () => {
    const { store } = given()
    const table = `kinds_${randomBytes(6).toString('hex')}`
    await store.command(
      `CREATE TABLE ${table} (small UInt8, more String DEFAULT concat('of ', name),
         amount Decimal(38, 6), name LowCardinality(String), at DateTime('UTC'))
       ENGINE = MergeTree ORDER BY name`,
    )
    const columns: Column<number>[] = [
      { name: 'name', type: 'String', value: (number) => `n${number}` },
      { name: 'at', type: "DateTime64(3, 'UTC')", value: (number) => number * 1_000 },
      { name: 'amount', type: 'Decimal(18, 6)', value: (number) => -number },
      { name: 'small', type: 'UInt32', value: (number) => number },
    ]
    await store.insert(table, columns, [1, 2], 'token')
    await store.insert(table, columns, [], 'empty')
    expect(await store.query(`SELECT * FROM ${table} ORDER BY small`)).toEqual([
      { small: 1, more: 'of n1', amount: '-0.000001', name: 'n1', at: '1970-01-01 00:00:01' },
      { small: 2, more: 'of n2', amount: '-0.000002', name: 'n2', at: '1970-01-01 00:00:02' },
    ])
  })

  it('binds parameters of every kind as data', async () => {
    const hostile = `it's a \\ "test"\n\t\r {x:String}; DROP TABLE x -- \u00e9\u{1f600}\0`
    const [row] = await given().store.query<Record<string, unknown>>(
      `SELECT {text:String} AS text, {count:UInt64} AS count, {small:UInt8} AS small,
              {list:Array(String)} AS list, {nothing:Nullable(String)} AS nothing,
              {amount:Decimal(38, 6)} AS amount, {at:DateTime64(3, 'UTC')} AS at`,
      {
        text: hostile,
        count: 2n ** 63n,
        small: 7,
        list: [hostile, 'b'],
        nothing: null,
        amount: '9007199254740993.000001',
        at: new Date('2026-01-31T23:59:59.123Z'),
      },
    )
    expect(row).toEqual({
      text: hostile,
      count: '9223372036854775808',
      small: 7,
      list: [hostile, 'b'],
      nothing: null,
      amount: '9007199254740993.000001',
      at: '2026-01-31 23:59:59.123',
    })
  })

  it('does not keep the parameters of the previous query', async () => {
    const { store } = given()
    const name = `p${randomBytes(4).toString('hex')}`
    expect(await store.query(`SELECT {${name}:String} AS x`, { [name]: 'secret' })).toEqual([
      { x: 'secret' },
    ])
    await expect(store.query(`SELECT {${name}:String} AS x`)).rejects.toMatchObject({ code: 456 })
  })

  it('distinguishes ClickHouse errors by number and name', async () => {
    const { store } = given()
    const missing = store.query('SELECT * FROM no_such_table')
    await expect(missing).rejects.toThrow(UsageStoreStatementError)
    await expect(missing).rejects.toMatchObject({ code: 60, type: 'UNKNOWN_TABLE' })
    await expect(store.command('CREATE TABEL x')).rejects.toMatchObject({ code: 62 })
    const tables = await createUsageTables(store)
    const colour: Column<UsageRow> = { name: 'colour', type: 'String', value: () => 'red' }
    const unknown = store.insert(tables.source, [...usageColumns, colour], usageRows('a', 1), 't')
    await expect(unknown).rejects.toThrow(UsageStoreStatementError)
    expect(await countsOf(store, tables)).toEqual({ rows: 0, viewed: 0 })
  })

  it('keeps concurrent inserts and queries separate', async () => {
    const { store } = given()
    const tables = await createUsageTables(store)
    await Promise.all(
      Array.from({ length: 40 }, async (_, each) => {
        await store.insert(tables.source, usageColumns, usageRows(`c${each}`, 25), `token-${each}`)
        const found = await store.query<{ n: string }>(
          `SELECT count() AS n FROM ${tables.source} WHERE customer = {customer:String}`,
          { customer: `c${each}` },
        )
        expect(found).toEqual([{ n: '25' }])
      }),
    )
    expect(await countsOf(store, tables)).toEqual({ rows: 1000, viewed: 1000 })
  })
}

export type UsageTables = { readonly source: string; readonly target: string }

/** Creates a table of rows with a view that sums them into another table, both with deduplication of tokens. */
export async function createUsageTables(store: UsageStore): Promise<UsageTables> {
  const suffix = randomBytes(6).toString('hex')
  const tables = { source: `rows_${suffix}`, target: `sums_${suffix}` }
  const window = 'SETTINGS non_replicated_deduplication_window = 1000'
  await store.command(
    `CREATE TABLE ${tables.source} (id String, customer String, value Decimal(18, 6))
     ENGINE = MergeTree ORDER BY (customer, id) ${window}`,
  )
  await store.command(
    `CREATE TABLE ${tables.target} (customer String, records UInt64)
     ENGINE = SummingMergeTree ORDER BY customer ${window}`,
  )
  await store.command(
    `CREATE MATERIALIZED VIEW view_${suffix} TO ${tables.target} AS
     SELECT customer, count() AS records FROM ${tables.source} GROUP BY customer`,
  )
  return tables
}

export type UsageRow = { readonly id: string; readonly customer: string }

export const usageColumns: readonly Column<UsageRow>[] = [
  { name: 'customer', type: 'String', value: ({ customer }) => customer },
  { name: 'id', type: 'String', value: ({ id }) => id },
  { name: 'value', type: 'Decimal(18, 6)', value: () => 1_500_000 },
]

export function usageRows(customer: string, count: number): UsageRow[] {
  return Array.from({ length: count }, (_, each) => ({ id: `usage_${customer}_${each}`, customer }))
}

export async function countsOf(
  store: UsageStore,
  tables: UsageTables,
): Promise<{ rows: number; viewed: number }> {
  const [rows] = await store.query<{ n: string }>(`SELECT count() AS n FROM ${tables.source}`)
  const [viewed] = await store.query<{ n: string }>(
    `SELECT sum(records) AS n FROM ${tables.target}`,
  )
  return { rows: Number(rows?.n), viewed: Number(viewed?.n) }
}
