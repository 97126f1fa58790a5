import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  startTestUsageStore,
  type SharedUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateUsageTables } from '../src/clickhouse/migrate.ts'
import { usageColumns } from '../src/domain/usage-rows.ts'
import { events } from './data-team-events.ts'

const read = (path: string): Promise<string> =>
  readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = await read('docs/data-team.md')
const operations = await read('docs/operations.md')
const statementsFile = await read('deploy/clickhouse/data-team.sql')

/** The query under each heading of the page that has one. */
const queries = new Map(
  [...page.matchAll(/^##+ (.+)\n[^#]*?```sql\n(SELECT[^`]*)```/gm)].map(([, title, sql]) => [
    title!,
    sql!,
  ]),
)

let clickhouse: SharedUsageStore
/** The read-only user of data teams, which runs every query of the page. */
let reader: UsageStore

beforeAll(async () => {
  clickhouse = await startTestUsageStore()
  reader = createClickHouseUsageStore(clickhouse.reader)
  await migrateUsageTables(clickhouse.connection)
  await insert('first', events)
  await insert('again, as after a refill from the log', events.slice(0, 2))
})
afterAll(async () => {
  await reader.close()
  await clickhouse.stop()
})

async function insert(token: string, records: readonly MeterEvent[]): Promise<void> {
  const decoded = records.map((event, offset) => ({ offset, event }))
  await clickhouse.store.insert('live.usage_records', usageColumns(3), decoded, token)
}

/** Returns the statements of docs/operations.md that rebuild the tables whose names match. */
function rebuilding(tables: RegExp): string[] {
  const all = [...operations.matchAll(/```sql\n([^`]*)```/g)].map(([, sql]) => sql!)
  return all.filter((sql) => tables.test(sql))
}

async function answer(title: string, onlyFirst = false): Promise<unknown> {
  const rows = await reader.query(queries.get(title)!, {
    provider: 'prov_1',
    meter: 'requests',
    start: '2026-03-01 00:00:00',
    end: '2026-04-01 00:00:00',
    month: 202603,
  })
  return onlyFirst ? rows[0] : rows
}

describe('the queries of docs/data-team.md', () => {
  it('count a record once by its id, within the requested time', async () => {
    expect(await answer('Usage of each meter by day, exactly')).toEqual([
      { meter_name: 'requests', day: '2026-03-01', used: '1.5', records: '1' },
      { meter_name: 'requests', day: '2026-03-02', used: '2', records: '1' },
      { meter_name: 'requests', day: '2026-03-31', used: '3.000001', records: '1' },
    ])
  })

  it('group records by a dimension', async () => {
    expect(await answer('Usage of a meter by a dimension')).toEqual([
      { model: '', used: '3.5', records: '2' },
      { model: 'large', used: '3.000001', records: '1' },
    ])
    expect(await answer('Dimensions as columns')).toEqual([
      { day: '2026-03-01', model: '', region: '', used: '1.5', records: '1' },
      { day: '2026-03-02', model: '', region: '', used: '2', records: '1' },
      { day: '2026-03-31', model: 'large', region: 'eu', used: '3.000001', records: '1' },
    ])
    expect(await answer('Which dimensions do records have?')).toEqual([
      { dimension: 'model', records: '1', different_values: '1' },
      { dimension: 'region', records: '1', different_values: '1' },
    ])
  })

  it('rank customers from the roll-up, in which a refill is visible', async () => {
    expect(await answer('The ten customers with the most usage')).toEqual([
      { customer_ref: 'ada', used: '7', records: '4' },
      { customer_ref: 'cyd', used: '3.000001', records: '1' },
    ])
  })

  it('report the paywall, tools, lateness, activity and progress', async () => {
    expect(await answer('Who runs into the paywall')).toEqual([
      { customer_ref: 'bob', product_ref: '', refused: '1', allowed: '0', refused_share: 1 },
    ])
    expect(await answer('Calls and failures of each tool')).toEqual([
      { tool: 'fetch', calls: '2', failures: '1' },
      { tool: 'search', calls: '2', failures: '0' },
    ])
    const late = (await answer('How late usage arrives', true)) as { seconds_late: unknown[] }
    expect(late).toMatchObject({ from_an_earlier_month: '7' })
    expect(late.seconds_late).toHaveLength(3)
    expect(await answer('Active customers of each month')).toEqual([
      { month: '2026-03-01', customers: '2' },
      { month: '2026-04-01', customers: '1' },
    ])
    expect(await answer('How far is the store?')).toEqual([
      { log_partition: 3, last_offset: '6', last_received: '2026-04-01 00:00:10.000' },
    ])
  })

  it('sum the debits of wallets', async () => {
    expect(await answer('credit_debits')).toEqual([
      { day: '2026-03-02', product_ref: 'prd_1', credits: '2' },
    ])
  })

  it('report differences between roll-up and records', async () => {
    expect(await answer('Does the roll-up agree with the records?')).toEqual([
      { meter_name: 'requests', in_records: '6.500001', in_roll_up: '10.000001' },
    ])
  })

  it('report no differences after the roll-up was rebuilt as docs/operations.md describes', async () => {
    const statements = rebuilding(/live\.usage_by_hour/)
    expect(statements).toHaveLength(2)
    for (const statement of statements) await clickhouse.store.command(statement)
    expect(await answer('Does the roll-up agree with the records?')).toEqual([])
  })

  // Two records were stored again after a loss, so that the other roll-ups have them twice.
  it('read daily usage', async () => {
    expect(await answer('Daily usage of a customer')).toEqual([
      { day: '2026-03-01', meter_name: 'requests', used: '3', records: '2' },
      { day: '2026-03-02', meter_name: 'requests', used: '4', records: '2' },
    ])
    expect(await answer('Events and active customers by day')).toEqual([
      { day: '2026-03-01', events: '4', active_customers: '1' },
      { day: '2026-03-02', events: '2', active_customers: '1' },
      { day: '2026-03-31', events: '1', active_customers: '1' },
    ])
    expect(await answer('Outcomes of each product')).toEqual([
      { product_ref: '', outcome: 'fail', records: '1' },
      { product_ref: '', outcome: 'paywall', records: '1' },
      { product_ref: '', outcome: 'success', records: '4' },
      { product_ref: 'prd_1', outcome: 'success', records: '2' },
    ])
    expect(await answer('Usage by a dimension, from the roll-up')).toEqual([
      { day: '2026-03-31', model: 'large', used: '3.000001' },
    ])
    expect(await answer('At which hours of the day')).toEqual([
      { hour_of_day: 1, events: '1' },
      { hour_of_day: 11, events: '2' },
      { hour_of_day: 13, events: '4' },
    ])
  })

  // `usage_by_hour` was rebuilt by a test above, so that it has every record once.
  it('compare the usage of customers over time', async () => {
    expect(await answer('Who uses more or less than before')).toEqual([
      { customer_ref: 'ada', used: '3.5', used_after: '0', change: '-3.5' },
      { customer_ref: 'cyd', used: '3.000001', used_after: '7', change: '3.999999' },
    ])
    expect(await answer('First and last use of each customer')).toEqual([
      { customer_ref: 'ada', first_use: '2026-03-01', last_use: '2026-03-02', days_of_use: '2' },
      { customer_ref: 'cyd', first_use: '2026-03-31', last_use: '2026-04-01', days_of_use: '2' },
    ])
    expect(await answer('Retention by the month of the first use')).toEqual([
      { first_month: '2026-03-01', months_later: '0', customers: '2' },
      { first_month: '2026-03-01', months_later: '1', customers: '1' },
    ])
  })

  it('count each record once after the other roll-ups were rebuilt as docs/operations.md describes', async () => {
    const statements = rebuilding(
      /live\.(usage_by_(purchase|dimension|meter|day)|active_customers)/,
    )
    expect(statements).toHaveLength(10)
    for (const statement of statements) await clickhouse.store.command(statement)
    expect(await answer('Daily usage of a customer')).toEqual([
      { day: '2026-03-01', meter_name: 'requests', used: '1.5', records: '1' },
      { day: '2026-03-02', meter_name: 'requests', used: '2', records: '1' },
    ])
    expect(await answer('Usage by a dimension, from the roll-up')).toEqual([
      { day: '2026-03-31', model: 'large', used: '3.000001' },
    ])
  })

  it('are all executed in this file', () => {
    expect([...page.matchAll(/```sql\nSELECT/g)]).toHaveLength(queries.size)
    expect(queries.size).toBe(20)
  })
})

describe('the tables of docs/data-team.md', () => {
  it.each(['live', 'sandbox'])(
    'have views in %s with a comment on every column',
    async (database) => {
      const columns = await reader.query<{ table: string; comment: string }>(
        `SELECT table, comment FROM system.columns WHERE database = {database:String} AND table LIKE 'daily_usage%'`,
        { database },
      )
      expect(new Set(columns.map(({ table }) => table)).size).toBe(2)
      expect(columns).toHaveLength(20)
      expect(columns.filter(({ comment }) => comment.length < 10)).toEqual([])
    },
  )

  it.each([
    'usage_records',
    'usage_by_hour',
    'usage_by_purchase',
    'usage_by_dimension',
    'usage_by_meter',
    'usage_by_day',
    'active_customers',
    'unreadable_records',
  ])('%s has the documented columns', async (table) => {
    const section = page.split(`\n## ${table}\n`)[1]!.split('\n## ')[0]!
    const described = [...section.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)].map(
      ([, name, type]) => ({ name, type }),
    )
    const found = await reader.query(
      `SELECT name, type FROM system.columns WHERE database = 'live' AND table = {table:String} ORDER BY position`,
      { table },
    )
    expect(found).toEqual(described)
  })
})

/** Sends one request as the read-only user. The query is in the body unless the address contains one. */
async function ask(query: string, address = ''): Promise<{ status: number; text: string }> {
  const { url, username, password } = clickhouse.reader
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const response = await fetch(`${url}/${address}`, {
    method: 'POST',
    headers: { authorization },
    body: query,
  })
  return { status: response.status, text: await response.text() }
}

describe('the read-only user of the embedded store', () => {
  const secret = join(tmpdir(), `tollgate-data-team-${process.pid}`)
  beforeAll(async () => {
    await writeFile(secret, 'secret\n')
    await clickhouse.store.command('CREATE TABLE IF NOT EXISTS default.hidden (a UInt8) ORDER BY a')
  })
  afterAll(() => rm(secret))

  it.each([
    ['SELECT 1 FORMAT CSV', '', '1\n'],
    ['SELECT count() FROM usage_records', '', '9\n'],
    ['SELECT count() FROM usage_records;', '?database=sandbox', '0\n'],
    ['SELECT currentDatabase()', '?database=default', 'live\n'],
    [`SELECT 'system.users; INTO OUTFILE' /* ; DROP TABLE x */ -- file('x')`, '', undefined],
    ['SELECT format($${}-{}$$, 1, 2), sum(number) FROM numbers(3)', '', '1-2\t3\n'],
    [
      `SELECT name FROM system.tables WHERE database = 'live' AND name = 'credit_debits'`,
      '',
      undefined,
    ],
    ['SELECT toDate({day:String}) FORMAT TSV', '?param_day=2026-03-01', '2026-03-01\n'],
    ['UNION ALL SELECT 1', '?query=SELECT+1', '1\n1\n'],
    ['SHOW TABLES', '', undefined],
    ['DESCRIBE live.usage_records', '', undefined],
    ['EXPLAIN SELECT 1', '', undefined],
    ['SELECT 1 EXCEPT SELECT 2', '', '1\n'],
    ['(SELECT 1) INTERSECT (SELECT 1)', '', '1\n'],
    ['EXPLAIN SELECT 1 EXCEPT SELECT 2', '', undefined],
    ['EXISTS live.usage_records', '', '1\n'],
    ['EXISTS DATABASE live', '', '1\n'],
    ['SHOW INDEX FROM usage_records', '', undefined],
    ['SELECT 1', '?max_execution_time=10&output_format_json_quote_decimals=1&readonly=2', '1\n'],
  ])('accepts: %s %s', async (query, address, text) => {
    const answered = await ask(query, address)
    expect(answered).toMatchObject({ status: 200, ...(text === undefined ? {} : { text }) })
  })

  it.each([
    ['INSERT INTO live.usage_records (id) VALUES (1)', '', 164],
    ['INSERT INTO live.usage_records FORMAT JSONEachRow {"id":"x"}', '', 164],
    ['{"id":"x"}', '?query=INSERT+INTO+live.usage_records+FORMAT+JSONEachRow', 164],
    ['WITH x AS (SELECT 1) INSERT INTO live.usage_records (id) SELECT 1', '', 164],
    ['DROP TABLE live.usage_records', '', 164],
    ['/* SELECT */ TRUNCATE TABLE live.usage_records', '', 164],
    ['ALTER TABLE live.usage_records DELETE WHERE 1', '', 164],
    ['OPTIMIZE TABLE live.usage_records FINAL', '', 164],
    ['CREATE TEMPORARY TABLE t (a UInt8)', '', 164],
    ['SYSTEM FLUSH LOGS', '', 164],
    ['KILL QUERY WHERE 1', '', 164],
    ['SET readonly = 0', '', 164],
    ['USE default', '', 164],
    ['SELECT 1; DROP TABLE live.usage_records', '', 62],
    ['SELECT 1; SET readonly = 0; DROP TABLE live.usage_records', '', 62],
    ['; DROP TABLE live.usage_records', '?query=SELECT+1', 62],
    ['DROP TABLE live.usage_records', '?query=SELECT+1--', 62],
    ['SELECT 1 SETTINGS readonly = 0', '', 164],
    ['SELECT 1 SETTINGS max_memory_usage = 0', '', 164],
    ['SELECT 1', '?readonly=0', 164],
    ['SELECT 1', '?allow_ddl=1', 164],
    ['SELECT 1', '?output_format_schema=/tmp/x', 164],
    ['SELECT 1', '?max_memory_usage=0', 452],
    ['SELECT 1', '?max_execution_time=86400', 452],
    [`SELECT 1 INTO OUTFILE '${secret}' TRUNCATE`, '', 497],
    [`SELECT 1 INTO/**/OUTFILE '${secret}' TRUNCATE`, '', 497],
    [`EXPLAIN SELECT 1 INTO OUTFILE '${secret}' TRUNCATE`, '', 497],
    [`SELECT file('${secret}')`, '', 497],
    [`SELECT FILE ('${secret}')`, '', 497],
    [`SELECT * FROM file('${secret}', LineAsString)`, '', 497],
    [`SELECT * FROM \`file\`('${secret}', LineAsString)`, '', 497],
    [`DESCRIBE file('${secret}')`, '', 497],
    [`SELECT 1 IN file('${secret}')`, '', 497],
    [`SELECT * FROM '${secret}'`, '', 60],
    [`SELECT * FROM default.\`${secret}\``, '', 497],
    [`SELECT * FROM url('http://127.0.0.1:1/', CSV)`, '', 497],
    [`SELECT * FROM s3('http://127.0.0.1:1/b/k')`, '', 497],
    [`SELECT * FROM executable('id', TSV, 'a String')`, '', 497],
    [`SELECT * FROM remote('127.0.0.1', system.one)`, '', 497],
    [`SELECT * FROM merge('default', '.*')`, '', 497],
    [`SELECT * FROM eval('SELECT * FROM default.hidden')`, '', 497],
    [`SELECT * FROM view(SELECT * FROM default.hidden)`, '', 497],
    ['SELECT * FROM default.hidden', '', 497],
    ['SELECT * FROM `default` . /* a */ "hidden"', '', 497],
    ['SELECT 1 IN default.hidden', '', 497],
    ['SELECT * FROM live.usage_records WHERE id IN (SELECT a FROM default.hidden)', '', 497],
    ['WITH x AS (SELECT * FROM default.hidden) SELECT * FROM x', '', 497],
    ['SELECT * FROM hidden', '', 60],
    ['SELECT * FROM {d:Identifier}.hidden', '?param_d=default', 497],
    ['SELECT * FROM hidden', '?database=system', 497],
    ['SELECT * FROM system.processes', '', 497],
    ['SELECT * FROM information_schema.tables', '', 497],
    ['SHOW PROCESSLIST', '', 164],
    ['SHOW CREATE TABLE default.hidden', '', 497],
    ['EXISTS default.hidden', '', 497],
    ['SHOW INDEX FROM default.hidden', '', 497],
    ['SHOW COLUMNS FROM hidden IN `default`', '', 497],
    ['SELECT 1 EXCEPT SELECT a FROM default.hidden', '', 497],
    [`SELECT joinGet('default.hidden', 'a', 1)`, '', 497],
    [`SELECT joinGetOrNull('default.hidden', 'a', 1)`, '', 497],
    [`SELECT hasColumnInTable('default', 'hidden', 'a')`, '', 497],
    [`SELECT dictGet('default.hidden', 'a', 1)`, '', 497],
    [`SELECT dictHas('default.hidden', 1)`, '', 497],
    ['SELECT 1\0; DROP TABLE live.usage_records', '', 62],
    ['', '?query=', 62],
  ])('refuses: %s %s', async (query, address, code) => {
    const { status, text } = await ask(query, address)
    expect(text).toMatch(new RegExp(`^Code: ${code}\\. `))
    expect(status).not.toBe(200)
  })

  it('has changed no data', async () => {
    expect(await readFile(secret, 'utf8')).toBe('secret\n')
    expect(await ask('SELECT count() FROM usage_records')).toEqual({ status: 200, text: '9\n' })
  })
})

describe('the user for data teams', () => {
  // The embedded engine has no access control, so only its parser checks the statements.
  const statements = statementsFile
    .split(/;\n/)
    .map((text) => text.replaceAll(/^--.*$/gm, '').trim())
    .filter(Boolean)

  it.each(statements)('is created by statements that ClickHouse parses: %s', async (statement) => {
    const explained = `EXPLAIN AST ${statement}`
    const password = statement.includes('{password:String}') ? { password: 'x' } : {}
    expect(await clickhouse.store.query(explained, password)).not.toEqual([])
  })

  it('has a policy for one provider that ClickHouse parses', async () => {
    const [, policy] = /```sql\n(CREATE ROW POLICY[^`]*)```/.exec(page)!
    expect(await clickhouse.store.query(`EXPLAIN AST ${policy}`)).not.toEqual([])
  })
})
