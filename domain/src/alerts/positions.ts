import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { noteUsedHours, type UsedHour } from './checks-repository.ts'

/** Offsets of the log, by partition. */
type LogPositions = ReadonlyMap<number, number>

/** Returns from where the log is to be searched. A partition without a stored position starts at its offset in `stored`. */
export async function readAlertPositions(
  sql: Queryable,
  stored: LogPositions,
): Promise<LogPositions> {
  await sql`
    insert into alert_positions (log_partition, next_offset) ${selectPositions(sql, stored)}
    on conflict do nothing`
  const rows = await sql<{ log_partition: number; next_offset: bigint }[]>`
    select log_partition, next_offset from alert_positions`
  return new Map(rows.map((row) => [row.log_partition, Number(row.next_offset)]))
}

/** Skips usage while nobody has alerts. */
export async function skipToPositions(sql: Queryable, stored: LogPositions): Promise<void> {
  await sql`
    insert into alert_positions as kept (log_partition, next_offset) ${selectPositions(sql, stored)}
    on conflict (log_partition) do update set next_offset = excluded.next_offset
      where kept.next_offset < excluded.next_offset`
}

function selectPositions(sql: Queryable, positions: LogPositions) {
  return sql`
    select * from unnest(${[...positions.keys()]}::integer[], ${[...positions.values()]}::bigint[])`
}

export type SearchedRange = {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  readonly used: readonly UsedHour[]
}

/**
 * Notes who used something in a range of the log, and moves the position. Both are one transaction: after a crash the range is
 * searched again. Returns false if another process has searched the range.
 */
export async function noteRange(
  sql: TransactionSql,
  { partition, fromOffset, toOffset, used }: SearchedRange,
): Promise<boolean> {
  const moved = await sql`
    update alert_positions set next_offset = ${toOffset}
    where log_partition = ${partition} and next_offset = ${fromOffset}`
  if (moved.count === 0) return false
  await noteUsedHours(sql, used)
  return true
}
