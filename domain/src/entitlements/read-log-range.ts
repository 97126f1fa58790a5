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
 * All records of the references, whatever their outcome: any of them may have used an idempotency key first. Throws
 * UsageBehindError when the log has deleted some of the range meanwhile; the rest of it would pass for all.
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
      const event = readableEvent(record)
      if (event?.providerId === providerId && customerRefs.has(event.customerRef)) {
        found.push({ offset: record.offset, event })
      }
    }
    // A long range takes as long as thousands of requests, and they must not wait for it.
    await otherWork()
  }
  return found
}

/** Avro keeps texts as they are, so nearly all records of others are told apart without being decoded. */
function mentions({ value }: LogRecord, needles: readonly Buffer[]): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return needles.some((needle) => bytes.includes(needle))
}

/** Undefined for what the projections set aside too. */
export function readableEvent(record: LogRecord): MeterEvent | undefined {
  try {
    return decodeMeterEvent(record.value)
  } catch (error) {
    if (error instanceof MeterEventFormatError) return undefined
    throw error
  }
}
