import { createHash } from 'node:crypto'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { Source } from '../source/source.ts'
import { listStoredAhead, recordName } from '../source/stored-ahead.ts'
import type { Target } from '../target/target.ts'
import type { Work } from '../work.ts'
import { pageLimits, readPage, type Key, type PageLimits } from './read-pages.ts'
import { movedColumns, movedRecord, usagePages, type UsageRow } from './usage-pages.ts'

/** Everything up to here is in the target: all months before this one, and of this one the rows up to a key. */
type Cursor = { readonly month: number; readonly after?: Key }

/**
 * Copies the usage records, page by page: insert a page, note its last key. A page begins where the noted one ended, and
 * its name is made of that place. So what a crash between the two repeats is the same page under the same name, of
 * which ClickHouse drops what it has, in the table and in what its views feed.
 */
export async function moveRows(
  source: Source,
  target: Target,
  work: Work,
  limits: PageLimits = pageLimits,
): Promise<void> {
  for (const environment of environments) {
    await moveRowsOf(environment, source, target, work, limits)
  }
}

async function moveRowsOf(
  environment: Environment,
  source: Source,
  target: Target,
  work: Work,
  limits: PageLimits,
): Promise<void> {
  const step = `rows/${environment}`
  const ahead = await listStoredAhead(source, environment)
  const leftOut = new Set(
    ahead.map(({ partition, offset, id }) => recordName(partition, offset, id)),
  )
  const table = usagePages(environment)
  const begun = target.journal.read<Cursor>(step)
  for (const { month, rows } of await listMonths(source, environment)) {
    work.expect(rows)
    if (begun !== undefined && month < begun.month) {
      work.advance(rows)
      continue
    }
    let after = month === begun?.month ? begun.after : undefined
    for (;;) {
      work.signal.throwIfAborted()
      const within = `toYYYYMM(timestamp) = ${month}`
      const page = await readPage(source.usageStore, table, within, after, limits)
      if (page.length === 0) break
      const kept = page.filter(
        (row) => !leftOut.has(recordName(row.log_partition, Number(row.log_offset), row.id)),
      )
      const token = pageName(target, step, { month, ...(after && { after }) })
      await insertRows(environment, target, kept, token)
      after = table.keyOf(page.at(-1)!)
      await target.journal.write(target.database.control, step, { month, after })
      work.advance(page.length)
    }
  }
}

async function listMonths(
  { usageStore }: Source,
  environment: Environment,
): Promise<{ month: number; rows: number }[]> {
  const months = await usageStore.query<{ month: number; rows: string }>(
    `SELECT toYYYYMM(timestamp) AS month, count() AS rows
     FROM ${environment}.usage_records FINAL GROUP BY month ORDER BY month`,
  )
  return months.map(({ month, rows }) => ({ month, rows: Number(rows) }))
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

/** Names a page by where it begins. */
export function pageName({ journal }: Target, step: string, begin: unknown): string {
  const place = createHash('sha256').update(JSON.stringify(begin)).digest('hex').slice(0, 32)
  return `move-${journal.moveId}-${step}-${place}`
}
