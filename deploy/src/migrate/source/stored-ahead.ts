import type { Environment } from '@tollgate/schemas/environment'
import { readTail } from './read-tail.ts'
import type { Source } from './source.ts'

/** A row of ClickHouse whose record is also in the tail of the log. */
export type StoredAhead = {
  readonly partition: number
  readonly offset: number
  readonly id: string
  readonly providerId: string
  /** Value in 10^-6 units. */
  readonly value: number
  /** Debit of the wallet for this record: 10^-6 credits as decimal text. */
  readonly debit: string
  /** Whether the record counts toward limits. */
  readonly counts: boolean
}

type Row = Omit<StoredAhead, 'offset' | 'value' | 'counts'> & {
  readonly offset: string
  readonly value: string
  readonly outcome: string
}

/**
 * Returns the rows that a killed sink stored without advancing its position. Their records are moved with the log, so these rows
 * are not copied. A row with such an offset may also come from a lost log, and then the row is the only copy. The ids are compared
 * to distinguish the two cases.
 */
export async function listStoredAhead(
  source: Source,
  environment: Environment,
): Promise<StoredAhead[]> {
  const behind = source.partitions
    .filter((each) => each.environment === environment && each.storedTo < each.head)
    .map(
      ({ partition, storedTo, head }) =>
        `(log_partition = ${partition} AND log_offset >= ${storedTo} AND log_offset < ${head})`,
    )
  if (behind.length === 0) return []
  const rows = await source.usageStore.query<Row>(
    `SELECT log_partition AS partition, log_offset AS offset, id, provider_id AS providerId,
       reinterpretAsInt64(value) AS value, toString(toInt128(debit * 1000000)) AS debit, outcome
     FROM ${environment}.usage_records FINAL WHERE ${behind.join(' OR ')}`,
  )
  if (rows.length === 0) return []
  const candidates = new Map<string, Row[]>()
  for (const row of rows) {
    const key = recordKey(row.partition, Number(row.offset), row.id)
    candidates.set(key, [...(candidates.get(key) ?? []), row])
  }
  const ahead: StoredAhead[] = []
  for await (const { partition, offset, event } of readTail(source, environment)) {
    // A record has a row for each meter on which it counts.
    for (const row of candidates.get(recordKey(partition, offset, event?.id ?? '')) ?? []) {
      const { id, providerId, value, debit, outcome } = row
      ahead.push({
        partition,
        offset,
        id,
        providerId,
        value: Number(value),
        debit,
        counts: outcome === 'success',
      })
    }
  }
  return ahead
}

/** Returns a name that distinguishes a record from records at the same position of a lost log. */
export function recordKey(partition: number, offset: number, id: string): string {
  return `${partition}/${offset}/${id}`
}
