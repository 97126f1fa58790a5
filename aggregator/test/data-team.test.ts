import { readFile } from 'node:fs/promises'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateUsageTables } from '../src/clickhouse/migrate.ts'
import { usageColumns } from '../src/domain/usage-rows.ts'
import { meterEvent } from './meter-event.ts'

const read = (path: string): Promise<string> =>
  readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = await read('docs/data-team.md')
const operations = await read('docs/operations.md')
const statementsFile = await read('deploy/clickhouse/data-team.sql')

/** The SQL under each heading of the page. */
const queries = new Map(
  [...page.matchAll(/^### (.+)\n[^#]*?```sql\n([^`]*)```/gm)].map(([, title, sql]) => [
    title!,
    sql!,
  ]),
)

let clickhouse: TestUsageStore

beforeAll(async () => {
  clickhouse = await startTestUsageStore()
  await migrateUsageTables(clickhouse.connection)
  await insert('first', events)
  await insert('again, as after a refill from the log', events.slice(0, 2))
})
afterAll(() => clickhouse.stop())

const at = (text: string): number => Date.parse(text)
const tool = (name: string) => ({ properties: JSON.stringify({ toolName: name }) })
const events: MeterEvent[] = [
  { customerRef: 'ada', value: 1_500_000, ...tool('search') },
  {
    customerRef: 'ada',
    value: 2_000_000,
    timestamp: at('2026-03-02T10:00:00Z'),
    ...tool('search'),
  },
  { customerRef: 'bob', value: 250_000, outcome: 'paywall' as const, ...tool('fetch') },
  { customerRef: 'bob', value: 1, outcome: 'fail' as const, ...tool('fetch') },
  { customerRef: 'cyd', value: 3_000_001, timestamp: at('2026-03-31T23:59:59.999Z') },
  { customerRef: 'cyd', value: 7_000_000, timestamp: at('2026-04-01T00:00:00Z') },
  { customerRef: 'ada', value: 9_000_000, providerId: 'prov_2' },
].map((fields, index) =>
  meterEvent({
    id: `usage_${index}`,
    timestamp: at('2026-03-01T12:00:00Z'),
    receivedAt: at('2026-04-01T00:00:10Z'),
    ...fields,
  }),
)

async function insert(token: string, records: readonly MeterEvent[]): Promise<void> {
  const decoded = records.map((event, offset) => ({ offset, event }))
  await clickhouse.store.insert('live.usage_records', usageColumns(3), decoded, token)
}

async function answer(title: string, onlyFirst = false): Promise<unknown> {
  const rows = await clickhouse.store.query(queries.get(title)!, {
    provider: 'prov_1',
    meter: 'requests',
    start: '2026-03-01 00:00:00',
    end: '2026-04-01 00:00:00',
    month: 202603,
  })
  return onlyFirst ? rows[0] : rows
}

describe('the queries of docs/data-team.md', () => {
  it('count a record once by its id, within the time that is asked for', async () => {
    expect(await answer('Usage of each meter by day, exactly')).toEqual([
      { meter_name: 'requests', day: '2026-03-01', used: '1.5', records: '1' },
      { meter_name: 'requests', day: '2026-03-02', used: '2', records: '1' },
      { meter_name: 'requests', day: '2026-03-31', used: '3.000001', records: '1' },
    ])
  })

  it('rank customers from the roll-up, in which the refill is seen', async () => {
    expect(await answer('The ten customers with the most usage')).toEqual([
      { customer_ref: 'ada', used: '7', records: '4' },
      { customer_ref: 'cyd', used: '3.000001', records: '1' },
    ])
  })

  it('show the paywall, tools, lateness, activity and progress', async () => {
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

  it('tell where roll-up and records differ', async () => {
    expect(await answer('Does the roll-up agree with the records?')).toEqual([
      { meter_name: 'requests', in_records: '6.500001', in_roll_up: '10.000001' },
    ])
  })

  it('agree after the roll-up was made again as docs/operations.md says', async () => {
    const all = [...operations.matchAll(/```sql\n([^`]*)```/g)].map(([, sql]) => sql!)
    const statements = all.filter((sql) => sql.includes('live.usage_by_hour'))
    expect(statements).toHaveLength(2)
    for (const statement of statements) await clickhouse.store.command(statement)
    expect(await answer('Does the roll-up agree with the records?')).toEqual([])
  })

  it('are all run here', () => {
    expect([...queries.keys()]).toHaveLength([...page.matchAll(/^### /gm)].length)
    expect(queries.size).toBe(8)
  })
})

describe('the tables of docs/data-team.md', () => {
  it.each(['usage_records', 'usage_by_hour', 'unreadable_records'])(
    '%s has the columns that are described',
    async (table) => {
      const section = page.split(`\n## ${table}\n`)[1]!.split('\n## ')[0]!
      const described = [...section.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)].map(
        ([, name, type]) => ({ name, type }),
      )
      const found = await clickhouse.store.query(
        `SELECT name, type FROM system.columns WHERE database = 'live' AND table = {table:String} ORDER BY position`,
        { table },
      )
      expect(found).toEqual(described)
    },
  )
})

describe('the user for data teams', () => {
  // The embedded engine has no access control, so its parser is asked, and not its access manager.
  const statements = statementsFile
    .split(/;\n/)
    .map((text) => text.replaceAll(/^--.*$/gm, '').trim())
    .filter(Boolean)

  it.each(statements)('is made by statements that ClickHouse reads: %s', async (statement) => {
    const explained = `EXPLAIN AST ${statement}`
    const password = statement.includes('{password:String}') ? { password: 'x' } : {}
    expect(await clickhouse.store.query(explained, password)).not.toEqual([])
  })

  it('has a policy for one provider that ClickHouse reads', async () => {
    const [, policy] = /```sql\n(CREATE ROW POLICY[^`]*)```/.exec(page)!
    expect(await clickhouse.store.query(`EXPLAIN AST ${policy}`)).not.toEqual([])
  })
})
