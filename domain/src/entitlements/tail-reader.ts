import { setImmediate as otherWork } from 'node:timers/promises'
import type { LogRecord } from '@tollgate/platform/event-log/event-log'
import { MeterEventFormatError } from '@tollgate/schemas/meter-event'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'
import type { CountingWindow } from './counting-windows.ts'
import type { Reading, UsageParts, UsageQuery } from './usage-query.ts'
import { foldTail } from './fold-tail.ts'
import type { TailRecord } from './fold-tail.ts'

const readLimits = { recordsMax: 1000, bytesMax: 1024 * 1024 } as const

/**
 * What the log holds for one reference beyond its applied offset, by window. The view and its offset are of one moment,
 * so view plus tail is exact whatever the projection does meanwhile.
 */
export async function readTail(
  parts: UsageParts,
  query: UsageQuery,
  reading: Reading,
  windows: readonly CountingWindow[],
): Promise<ReadonlyMap<string, bigint>> {
  const records = await readSubject(parts, query, reading)
  const keyed = records.filter(({ event }) => event.idempotencyKey !== null)
  const ids = [...new Set(keyed.map(({ event }) => event.id))]
  const { space, partition } = reading.at
  const offsets = await parts.hotState.readMarks(space, partition, ids)
  const marks = new Map<string, number>()
  for (const [index, offset] of offsets.entries()) {
    if (offset !== undefined) marks.set(ids[index]!, offset)
  }
  const { providerId, productRef, meterName } = query
  const customerRefs = new Set([reading.customerRef])
  return foldTail(records, { providerId, productRef, meterName, customerRefs, windows }, marks)
}

/** All records of the reference, whatever their outcome: any of them may have used an idempotency key first. */
async function readSubject(
  { log }: UsageParts,
  query: UsageQuery,
  { at, view, head, customerRef }: Reading,
): Promise<TailRecord[]> {
  const topic = usageTopic(query.environment)
  const found: TailRecord[] = []
  let offset = view.appliedOffset
  while (offset < head) {
    const records = await log.read(topic, at.partition, offset, readLimits)
    if (records.length === 0) break
    for (const record of records) {
      if (record.offset >= head) break
      const event = readableEvent(record)
      if (event?.customerRef === customerRef && event.providerId === query.providerId) {
        found.push({ offset: record.offset, event })
      }
    }
    offset = records.at(-1)!.offset + 1
    // A long tail takes as long as thousands of requests, and they must not wait for it.
    await otherWork()
  }
  return found
}

/** Undefined for what the projections set aside too. */
function readableEvent(record: LogRecord): MeterEvent | undefined {
  try {
    return decodeMeterEvent(record.value)
  } catch (error) {
    if (error instanceof MeterEventFormatError) return undefined
    throw error
  }
}
