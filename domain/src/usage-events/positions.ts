import type { Queryable } from '@tollgate/platform/database/database'

/** Offsets of the log, by its partitions. */
export type LogPositions = ReadonlyMap<number, number>

/** From where on usage is to be told of. Partitions that nobody has looked at yet begin where they stand. */
export async function beginTelling(sql: Queryable, stored: LogPositions): Promise<LogPositions> {
  await sql`
    insert into usage_event_positions (log_partition, next_offset) ${selectPositions(sql, stored)}
    on conflict do nothing`
  const rows = await sql<{ log_partition: number; next_offset: bigint }[]>`
    select log_partition, next_offset from usage_event_positions`
  return new Map(rows.map((row) => [row.log_partition, Number(row.next_offset)]))
}

/** Passes over usage that nobody wants to be told of. */
export async function passUsage(sql: Queryable, stored: LogPositions): Promise<void> {
  await sql`
    insert into usage_event_positions as kept (log_partition, next_offset)
      ${selectPositions(sql, stored)}
    on conflict (log_partition) do update set next_offset = excluded.next_offset
      where kept.next_offset < excluded.next_offset`
}

function selectPositions(sql: Queryable, positions: LogPositions) {
  return sql`
    select * from unnest(${[...positions.keys()]}::integer[], ${[...positions.values()]}::bigint[])`
}
