import { setImmediate as otherWork } from 'node:timers/promises'
import { tryDecodeEvent, type LogRange } from '@tollgate/domain/entitlements/read-log-range'
import type { TailRecord } from '@tollgate/domain/entitlements/fold-tail'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'

export type RecordedUsageParts = {
  readonly eventLog: Pick<EventLog, 'read' | 'oldest'>
  readonly usageStore: Pick<UsageStore, 'query'>
}

export type RecordedUsage = {
  /** Counted records of the requested providers, in the order of the log. */
  readonly records: readonly TailRecord[]
  /** All records before this offset have been read. */
  readonly toOffset: number
  /** Parts of the range that the log no longer has. */
  readonly gaps: readonly LogGap[]
}

/** A range of offsets of one partition. `fromOffset` is inclusive, `toOffset` is exclusive. */
export type LogGap = { readonly fromOffset: number; readonly toOffset: number }

const readLimits = { recordsMax: 1_000, bytesMax: 1024 * 1024 } as const

/** Maximum number of log records that are read for one batch. */
const recordsPerBatchMax = 20_000

/**
 * Maximum number of counts of the matching records in one batch; the last record may exceed it. One query asks for the records' ids,
 * and its address may have at most 1 MB. Each count becomes an event, and all events of a batch are stored together.
 */
const countsPerBatchMax = 2_000

/**
 * Reads the usage of some providers in a range of the log that the sink has already stored, or in the beginning of that range. The
 * log, which is read completely, gives the position of each record. ClickHouse tells which records count: it stores the first
 * record of each id with its position, so a repeated record is left out. Throws if the log ends before the range does, because the
 * log is then not the one that was stored.
 */
export async function readRecordedUsage(
  parts: RecordedUsageParts,
  environment: Environment,
  { topic, partition, fromOffset, toOffset: rangeEnd }: LogRange,
  providerIds: ReadonlySet<string>,
): Promise<RecordedUsage> {
  const found: TailRecord[] = []
  let counts = 0
  const gaps: LogGap[] = []
  let offset = fromOffset
  const lastOffset = Math.min(rangeEnd, fromOffset + recordsPerBatchMax)
  while (offset < lastOffset && counts < countsPerBatchMax) {
    const records = await parts.eventLog.read(topic, partition, offset, readLimits)
    if (records.length === 0) {
      const oldest = await parts.eventLog.oldest(topic, partition)
      if (oldest <= offset) throw new Error(`${topic} ${partition} ends before ${offset}`)
      const gap = { fromOffset: offset, toOffset: Math.min(oldest, rangeEnd) }
      gaps.push(gap)
      offset = gap.toOffset
    }
    for (const record of records) {
      if (offset >= lastOffset || counts >= countsPerBatchMax) break
      if (record.offset > offset) {
        const gap = { fromOffset: offset, toOffset: Math.min(record.offset, rangeEnd) }
        gaps.push(gap)
        offset = gap.toOffset
        if (offset >= lastOffset) break
      }
      offset = record.offset + 1
      const event = tryDecodeEvent(record)
      if (event?.outcome === 'success' && providerIds.has(event.providerId)) {
        found.push({ offset: record.offset, event })
        counts += 1 + event.counts.length
      }
    }
    // Yield to other work, so that requests do not wait for a long range.
    await otherWork()
  }
  const records = await withoutDuplicates(parts.usageStore, environment, partition, found)
  return { records, toOffset: offset, gaps }
}

async function withoutDuplicates(
  store: RecordedUsageParts['usageStore'],
  environment: Environment,
  partition: number,
  found: readonly TailRecord[],
): Promise<readonly TailRecord[]> {
  const keyed = found.filter(({ event }) => event.idempotencyKey !== null)
  if (keyed.length === 0) return found
  const times = keyed.map(({ event }) => event.timestamp)
  const rows = await store.query<{ offset: string }>(
    // Conditions in the order of the table's sorting key come first, because each of them reduces the rows that are read.
    `SELECT log_offset AS offset FROM ${environment}.usage_records
     WHERE provider_id IN {providerIds:Array(String)} AND meter_name IN {meterNames:Array(String)}
       AND customer_ref IN {customerRefs:Array(String)}
       AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64})
       AND timestamp <= fromUnixTimestamp64Milli({toMs:Int64})
       AND id IN {ids:Array(String)} AND log_partition = {partition:UInt32}
       AND log_offset >= {fromOffset:UInt64} AND log_offset <= {toOffset:UInt64}`,
    {
      providerIds: distinct(keyed, (event) => event.providerId),
      meterNames: distinct(keyed, firstMeterOf),
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

/** Returns the meter of the record's first row. */
function firstMeterOf({ meterName, counts }: TailRecord['event']): string {
  return meterName === '' ? (counts[0]?.meterName ?? '') : meterName
}

function distinct(
  records: readonly TailRecord[],
  of: (event: TailRecord['event']) => string,
): string[] {
  return [...new Set(records.map(({ event }) => of(event)))]
}
