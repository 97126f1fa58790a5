import { setImmediate as otherWork } from 'node:timers/promises'
import type { EventLog, LogRecord } from '@tollgate/platform/event-log/event-log'
import { MeterEventFormatError, type MeterEvent } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import type { TailRecord } from './fold-tail.ts'
import { UsageBehindError } from './usage-behind-error.ts'

/** The records [fromOffset, toOffset) of a partition. */
export type LogRange = {
  readonly topic: string
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
}

export type UsageOwner = {
  readonly providerId: string
  readonly customerRefs: ReadonlySet<string>
}

const readLimits = { recordsMax: 1000, bytesMax: 1024 * 1024 } as const

/**
 * Returns all records of the references, whatever their outcome, because any of them may have used an idempotency key
 * first. Throws UsageBehindError if the log has deleted part of the range in the meantime: the remaining records would
 * look like the complete range.
 */
export async function readLogRange(
  log: Pick<EventLog, 'read'>,
  { topic, partition, fromOffset, toOffset }: LogRange,
  { providerId, customerRefs }: UsageOwner,
): Promise<TailRecord[]> {
  const found: TailRecord[] = []
  const needles = Array.from(customerRefs, (reference) => Buffer.from(reference, 'utf8'))
  let offset = fromOffset
  while (offset < toOffset) {
    const records = await log.read(topic, partition, offset, readLimits)
    if (records.length === 0) throw new UsageBehindError(toOffset - offset)
    for (const record of records) {
      if (offset >= toOffset) break
      if (record.offset !== offset) throw new UsageBehindError(toOffset - offset)
      offset += 1
      if (!mentions(record, needles)) continue
      const event = tryDecodeEvent(record)
      if (event?.providerId === providerId && customerRefs.has(event.customerRef)) {
        found.push({ offset: record.offset, event })
      }
    }
    // Reading a long range takes as long as thousands of requests. Other requests must not wait for it.
    await otherWork()
  }
  return found
}

/**
 * Returns whether the record contains one of the references. Avro stores texts unchanged, so this skips nearly all
 * records of other customers without decoding them.
 */
function mentions({ value }: LogRecord, needles: readonly Buffer[]): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return needles.some((needle) => bytes.includes(needle))
}

/** Returns undefined for records that the projections quarantine as well. */
export function tryDecodeEvent(record: LogRecord): MeterEvent | undefined {
  try {
    return decodeMeterEvent(record.value)
  } catch (error) {
    if (error instanceof MeterEventFormatError) return undefined
    throw error
  }
}
