import { setImmediate as otherWork } from 'node:timers/promises'
import { readableEvent, type LogRange } from '@tollgate/domain/entitlements/read-log-range'
import type { TailRecord } from '@tollgate/domain/entitlements/fold-tail'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'

export type RecordedUsageParts = {
  readonly eventLog: Pick<EventLog, 'read' | 'oldest'>
  readonly usageStore: Pick<UsageStore, 'query'>
}

export type RecordedUsage = {
  /** Of the providers that were asked for, as far as it counts, in the order of the log. */
  readonly records: readonly TailRecord[]
  /** All records before it were looked at. */
  readonly toOffset: number
  /** What of it the log does not have any more. */
  readonly holes: readonly LogHole[]
}

/** Offsets of a partition, from the first on and up to the second. */
export type LogHole = { readonly fromOffset: number; readonly toOffset: number }

const readLimits = { recordsMax: 1_000, bytesMax: 1024 * 1024 } as const

/** Records of the log that are looked at for one batch. */
const recordsPerBatchMax = 20_000

/** Records that are found of one batch. Ids of them are asked for in one query, whose address may have a megabyte. */
const foundPerBatchMax = 2_000

/**
 * The usage of some providers in a range of the log that the sink has stored, or in the beginning of it. Where a record
 * lies the log tells, which is read from end to end; that it counts, and is no repeat of an earlier one, ClickHouse does,
 * which has the first of them with its place in the log. Throws where the log ends before the range does: it is another one
 * than was stored.
 */
export async function readRecordedUsage(
  parts: RecordedUsageParts,
  environment: Environment,
  { topic, partition, fromOffset, toOffset: rangeEnd }: LogRange,
  providerIds: ReadonlySet<string>,
): Promise<RecordedUsage> {
  const found: TailRecord[] = []
  const holes: LogHole[] = []
  let offset = fromOffset
  const lastOffset = Math.min(rangeEnd, fromOffset + recordsPerBatchMax)
  while (offset < lastOffset && found.length < foundPerBatchMax) {
    const records = await parts.eventLog.read(topic, partition, offset, readLimits)
    if (records.length === 0) {
      const oldest = await parts.eventLog.oldest(topic, partition)
      if (oldest <= offset) throw new Error(`${topic} ${partition} ends before ${offset}`)
      const hole = { fromOffset: offset, toOffset: Math.min(oldest, rangeEnd) }
      holes.push(hole)
      offset = hole.toOffset
    }
    for (const record of records) {
      if (offset >= lastOffset || found.length >= foundPerBatchMax) break
      if (record.offset > offset) {
        const hole = { fromOffset: offset, toOffset: Math.min(record.offset, rangeEnd) }
        holes.push(hole)
        offset = hole.toOffset
        if (offset >= lastOffset) break
      }
      offset = record.offset + 1
      const event = readableEvent(record)
      if (event?.outcome === 'success' && providerIds.has(event.providerId)) {
        found.push({ offset: record.offset, event })
      }
    }
    // Requests must not wait for a long range.
    await otherWork()
  }
  const records = await withoutRepeats(parts.usageStore, environment, partition, found)
  return { records, toOffset: offset, holes }
}

async function withoutRepeats(
  store: RecordedUsageParts['usageStore'],
  environment: Environment,
  partition: number,
  found: readonly TailRecord[],
): Promise<readonly TailRecord[]> {
  const keyed = found.filter(({ event }) => event.idempotencyKey !== null)
  if (keyed.length === 0) return found
  const times = keyed.map(({ event }) => event.timestamp)
  const rows = await store.query<{ offset: string }>(
    // What the table is sorted by comes first: each of the conditions leaves less to be read.
    `SELECT log_offset AS offset FROM ${environment}.usage_records
     WHERE provider_id IN {providerIds:Array(String)} AND meter_name IN {meterNames:Array(String)}
       AND customer_ref IN {customerRefs:Array(String)}
       AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64})
       AND timestamp <= fromUnixTimestamp64Milli({toMs:Int64})
       AND id IN {ids:Array(String)} AND log_partition = {partition:UInt32}
       AND log_offset >= {fromOffset:UInt64} AND log_offset <= {toOffset:UInt64}`,
    {
      providerIds: distinct(keyed, (event) => event.providerId),
      meterNames: distinct(keyed, (event) => event.meterName),
      customerRefs: distinct(keyed, (event) => event.customerRef),
      fromMs: times.reduce((one, other) => Math.min(one, other)),
      toMs: times.reduce((one, other) => Math.max(one, other)),
      ids: distinct(keyed, (event) => event.id),
      partition,
      fromOffset: keyed[0]!.offset,
      toOffset: keyed.at(-1)!.offset,
    },
  )
  const stored = new Set(rows.map((row) => Number(row.offset)))
  return found.filter(({ offset, event }) => event.idempotencyKey === null || stored.has(offset))
}

function distinct(
  records: readonly TailRecord[],
  of: (event: TailRecord['event']) => string,
): string[] {
  return [...new Set(records.map(({ event }) => of(event)))]
}
