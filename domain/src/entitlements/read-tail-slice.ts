import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { tryDecodeEvent } from './read-log-range.ts'
import { UsageBehindError } from './usage-behind-error.ts'

/**
 * Records of a slice are decoded without a pause, because the log may reuse their memory. Requests wait for about 2 ms
 * during this.
 */
const sliceRecordsMax = 512
const sliceBytesMax = 1024 * 1024

export type LogPlace = { readonly topic: string; readonly partition: number }

export type TailSlice = {
  readonly fromOffset: number
  readonly toOffset: number
  readonly records: readonly { readonly offset: number; readonly event: MeterEvent }[]
}

/**
 * Reads records from `fromOffset` on, and skips records that no projection can read. Throws UsageBehindError if the log
 * no longer has the first record.
 */
export async function readTailSlice(
  log: Pick<EventLog, 'read'>,
  { topic, partition }: LogPlace,
  fromOffset: number,
  recordsMax = sliceRecordsMax,
): Promise<TailSlice> {
  const limits = {
    recordsMax: Math.min(recordsMax, sliceRecordsMax),
    bytesMax: sliceBytesMax,
  }
  const read = await log.read(topic, partition, fromOffset, limits)
  if (read[0]?.offset !== fromOffset) throw new UsageBehindError(recordsMax)
  const records: { offset: number; event: MeterEvent }[] = []
  let toOffset = fromOffset
  for (const record of read) {
    if (record.offset !== toOffset) break
    toOffset += 1
    const event = tryDecodeEvent(record)
    if (event !== undefined) records.push({ offset: record.offset, event })
  }
  return { fromOffset, toOffset, records }
}
