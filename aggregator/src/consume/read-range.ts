import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import { BatchDecoder } from '../domain/decode-batch.ts'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import type { PartitionParts } from './partition-parts.ts'

/** Reads exactly the records [fromOffset, toOffset), in as many reads as necessary. Throws if the log ends before `toOffset`. */
export async function readRange(
  { log, topic, partition, readLimits }: PartitionParts,
  fromOffset: number,
  toOffset: number,
): Promise<DecodedBatch> {
  const decoder = new BatchDecoder(fromOffset)
  while (decoder.toOffset < toOffset) {
    const recordsMax = Math.min(readLimits.recordsMax, toOffset - decoder.toOffset)
    const limits = { ...readLimits, recordsMax }
    const records = await log.read(topic, partition, decoder.toOffset, limits)
    if (records.length === 0) {
      throw new Error(`${topic}/${partition} ends at ${decoder.toOffset}, before ${toOffset}`)
    }
    decoder.add(records)
  }
  return decoder.finish()
}

/** Reads like `readRange`. Returns undefined if a segment of the log is damaged in the range. */
export async function tryReadRange(
  parts: PartitionParts,
  fromOffset: number,
  toOffset: number,
): Promise<DecodedBatch | undefined> {
  try {
    return await readRange(parts, fromOffset, toOffset)
  } catch (error) {
    if (error instanceof LogDamagedError) return undefined
    throw error
  }
}
