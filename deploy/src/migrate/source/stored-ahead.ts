import type { Environment } from '@tollgate/schemas/environment'
import { readTail } from './read-tail.ts'
import type { Source } from './source.ts'

/** A row of ClickHouse that is a record of the log's tail as well. */
export type StoredAhead = {
  readonly partition: number
  readonly offset: number
  readonly id: string
  readonly providerId: string
  /** 10^-6 units. */
  readonly value: number
  /** What a wallet paid for it: 10^-6 credits as decimal text. */
  readonly debit: string
  /** Whether it counts toward limits. */
  readonly counts: boolean
}

type Row = Omit<StoredAhead, 'offset' | 'value' | 'counts'> & {
  readonly offset: string
  readonly value: string
  readonly outcome: string
}

/**
 * The rows that a sink stored before it was killed, without having moved its position: their records are moved as
 * records of the log, so the rows are left out. A row with such an offset may also be of a log that was lost, and then
 * it is all there is of it; so the ids are compared.
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
  const candidates = new Map(
    rows.map((row) => [recordName(row.partition, Number(row.offset), row.id), row]),
  )
  const ahead: StoredAhead[] = []
  for await (const { partition, offset, event } of readTail(source, environment)) {
    const row = candidates.get(recordName(partition, offset, event?.id ?? ''))
    if (row === undefined) continue
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
  return ahead
}

/** Tells a record from those that stood at its place in a log that was lost. */
export function recordName(partition: number, offset: number, id: string): string {
  return `${partition}/${offset}/${id}`
}
