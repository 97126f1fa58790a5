import type { Column } from '@tollgate/platform/usage-store/usage-store'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { readTail } from '../source/read-tail.ts'
import type { Source } from '../source/source.ts'
import { recordKey } from '../source/stored-ahead.ts'
import type { Target } from '../target/target.ts'
import type { Work } from '../work.ts'
import { pageName } from './move-rows.ts'
import { readPages, type Key, type PagedTable } from './read-pages.ts'

type UnreadableRow = {
  readonly log_partition: number
  readonly log_offset: string
  readonly received_at_ms: string
  readonly error: string
  readonly raw: string
}

/**
 * Copies the records that cannot be decoded. Their table is sorted by log position. Their new offsets lie beyond every offset of
 * the target's own log, so that they never collide, and they keep their order.
 */
export async function moveUnreadable(source: Source, target: Target, work: Work): Promise<void> {
  for (const environment of environments) {
    const step = `unreadable/${environment}`
    const table = unreadablePages(environment)
    const leftOut = await listUnreadableTail(source, environment)
    const done = target.journal.read<Key>(step)
    for await (const page of readPages(source.usageStore, table, 'true', done)) {
      work.signal.throwIfAborted()
      work.expect(page.rows.length)
      const kept = page.rows.filter((row) => !leftOut.has(unreadableKey(row)))
      const name = pageName(target, step, page.after ?? [])
      if (kept.length > 0) await target.usageStore.insert(table.name, movedColumns, kept, name)
      await target.journal.write(target.database.control, step, page.last)
      work.advance(page.rows.length)
    }
  }
}

/**
 * Returns the undecodable records of the tail. They will be moved with the log, and a killed sink may already have stored them in
 * the table.
 */
async function listUnreadableTail(
  source: Source,
  environment: Environment,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for await (const { partition, offset, value, event } of readTail(source, environment)) {
    if (event !== undefined) continue
    names.add(recordKey(partition, offset, Buffer.from(value).toString('base64')))
  }
  return names
}

/** Returns the name of a row. The bytes of an undecodable record are its id. */
function unreadableKey({
  log_partition: partition,
  log_offset: offset,
  raw,
}: UnreadableRow): string {
  return recordKey(partition, Number(offset), raw)
}

function unreadablePages(environment: Environment): PagedTable<UnreadableRow> {
  return {
    name: `${environment}.unreadable_records`,
    columns: [
      'log_partition',
      'log_offset',
      'toUnixTimestamp64Milli(received_at) AS received_at_ms',
      'error',
      'raw',
    ],
    key: [
      { name: 'log_partition', type: 'UInt32' },
      { name: 'log_offset', type: 'UInt64' },
    ],
    keyOf: (row) => [String(row.log_partition), row.log_offset],
    bytes: '(length(raw) + length(error) + 64)',
  }
}

const movedColumns: readonly Column<UnreadableRow>[] = [
  { name: 'log_partition', type: 'UInt32', value: (row) => row.log_partition },
  {
    name: 'log_offset',
    type: 'UInt64',
    value: (row) => offsetOfNoLog + 1 + Number(row.log_offset),
  },
  {
    name: 'received_at',
    type: "DateTime64(3, 'UTC')",
    value: (row) => Number(row.received_at_ms),
  },
  { name: 'error', type: 'String', value: (row) => row.error },
  { name: 'raw', type: 'String', value: (row) => row.raw },
]
