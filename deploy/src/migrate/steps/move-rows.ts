import { createHash } from 'node:crypto'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { Source } from '../source/source.ts'
import { listStoredAhead, recordKey } from '../source/stored-ahead.ts'
import type { Target } from '../target/target.ts'
import type { Work } from '../work.ts'
import { pageLimits, readPages, type Key, type PageLimits } from './read-pages.ts'
import { movedColumns, movedRecord, usagePages, type UsageRow } from './usage-pages.ts'

/** Progress: all months before `month` are in the target, and of `month` the rows up to the key `after`. */
type Cursor = { readonly month: number; readonly after: Key }

/**
 * Copies the usage records page by page: inserts a page, then records its last key. A page begins after the recorded key, and its
 * deduplication token is derived from that key. After a crash between the two steps, the same page is inserted again with the same
 * token, and ClickHouse drops it, in the table and in the targets of its views.
 */
export async function moveRows(
  source: Source,
  target: Target,
  work: Work,
  limits: PageLimits = pageLimits,
): Promise<void> {
  const months = []
  for (const environment of environments) months.push(...(await listMonths(source, environment)))
  work.expect(months.reduce((sum, { rows }) => sum + rows, 0))
  for (const environment of environments) {
    const ahead = await listStoredAhead(source, environment)
    const leftOut = new Set(
      ahead.map(({ partition, offset, id }) => recordKey(partition, offset, id)),
    )
    for (const month of months) {
      if (month.environment !== environment) continue
      await moveMonth(month, leftOut, { source, target, work, limits })
    }
  }
}

type Month = {
  readonly environment: Environment
  /** Year and month as one number, for example 202611. */
  readonly month: number
  readonly rows: number
}

type Parts = {
  readonly source: Source
  readonly target: Target
  readonly work: Work
  readonly limits: PageLimits
}

async function moveMonth(
  { environment, month, rows }: Month,
  leftOut: ReadonlySet<string>,
  { source, target, work, limits }: Parts,
): Promise<void> {
  const step = `rows/${environment}`
  const { journal, database } = target
  const done = journal.read<Cursor>(step)
  if (done !== undefined && month < done.month) return work.advance(rows)
  const begin = month === done?.month ? done.after : undefined
  const within = `toYYYYMM(timestamp) = ${month}`
  const table = usagePages(environment)
  for await (const page of readPages(source.usageStore, table, within, begin, limits)) {
    work.signal.throwIfAborted()
    const kept = page.rows.filter(
      (row) => !leftOut.has(recordKey(row.log_partition, Number(row.log_offset), row.id)),
    )
    const name = pageName(target, step, [month, page.after])
    await insertRows(environment, target, kept, name)
    await journal.write(database.control, step, { month, after: page.last } satisfies Cursor)
    work.advance(page.rows.length)
  }
}

async function listMonths({ usageStore }: Source, environment: Environment): Promise<Month[]> {
  const months = await usageStore.query<{ month: number; rows: string }>(
    `SELECT toYYYYMM(timestamp) AS month, count() AS rows
     FROM ${environment}.usage_records FINAL GROUP BY month ORDER BY month`,
  )
  return months.map(({ month, rows }) => ({ environment, month, rows: Number(rows) }))
}

async function insertRows(
  environment: Environment,
  { usageStore, partitionCount }: Target,
  rows: readonly UsageRow[],
  token: string,
): Promise<void> {
  if (rows.length === 0) return
  const partitions = partitionCount(environment)
  const records = rows.map((row) =>
    movedRecord(row, partitionOf(subjectKey(row.provider_id, row.customer_ref), partitions)),
  )
  await usageStore.insert(`${environment}.usage_records`, movedColumns, records, token)
}

/** Returns the deduplication token of a page, derived from where the page begins. */
export function pageName({ journal }: Target, step: string, begin: unknown): string {
  const place = createHash('sha256').update(JSON.stringify(begin)).digest('hex').slice(0, 32)
  return `move-${journal.moveId}-${step}-${place}`
}
