import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/*
 * Jobs that follow the sink through the log keep their positions in PostgreSQL, so that a position moves in the transaction of what
 * was done for the records before it.
 */

/** Tables of such positions. */
export type PositionTable = 'usage_event_positions' | 'alert_positions'

/** Offsets of the log, by partition. */
export type LogPositions = ReadonlyMap<number, number>

/** Returns the offsets from which a job continues. A partition without a stored position starts at its offset in `stored`. */
export async function startPositions(
  sql: Queryable,
  table: PositionTable,
  stored: LogPositions,
): Promise<LogPositions> {
  await sql`
    insert into ${sql(table)} (log_partition, next_offset) ${selectPositions(sql, stored)}
    on conflict do nothing`
  const rows = await sql<{ log_partition: number; next_offset: bigint }[]>`
    select log_partition, next_offset from ${sql(table)}`
  return new Map(rows.map((row) => [row.log_partition, Number(row.next_offset)]))
}

/** Skips the records before these offsets, while nobody needs what the job would do for them. */
export async function skipToPositions(
  sql: Queryable,
  table: PositionTable,
  stored: LogPositions,
): Promise<void> {
  await sql`
    insert into ${sql(table)} as kept (log_partition, next_offset) ${selectPositions(sql, stored)}
    on conflict (log_partition) do update set next_offset = excluded.next_offset
      where kept.next_offset < excluded.next_offset`
}

/** A part of a partition that a process has handled. */
export type HandledRange = {
  readonly partition: number
  readonly fromOffset: number
  /** End of the range, exclusive. */
  readonly toOffset: number
}

/** Moves the position over a range. Returns false if another process has moved it, so that each range is handled once. */
export async function movePosition(
  sql: TransactionSql,
  table: PositionTable,
  { partition, fromOffset, toOffset }: HandledRange,
): Promise<boolean> {
  const moved = await sql`
    update ${sql(table)} set next_offset = ${toOffset}
    where log_partition = ${partition} and next_offset = ${fromOffset}`
  return moved.count > 0
}

function selectPositions(sql: Queryable, positions: LogPositions) {
  return sql`
    select * from unnest(${[...positions.keys()]}::integer[], ${[...positions.values()]}::bigint[])`
}
