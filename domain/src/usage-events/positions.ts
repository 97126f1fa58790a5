import type { Queryable } from '@tollgate/platform/database/database'

/** Offsets of the log, by partition. */
export type LogPositions = ReadonlyMap<number, number>

/**
 * Returns the offsets from which usage events are to be emitted. A partition without a stored position starts at its offset in
 * `stored`.
 */
export async function startPositions(sql: Queryable, stored: LogPositions): Promise<LogPositions> {
  await sql`
    insert into usage_event_positions (log_partition, next_offset) ${selectPositions(sql, stored)}
    on conflict do nothing`
  const rows = await sql<{ log_partition: number; next_offset: bigint }[]>`
    select log_partition, next_offset from usage_event_positions`
  return new Map(rows.map((row) => [row.log_partition, Number(row.next_offset)]))
}

/** Skips usage for which no endpoint receives events. */
export async function skipUsage(sql: Queryable, stored: LogPositions): Promise<void> {
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
