import type { LogRecord, ReadLimits } from '../event-log.ts'
import { requestFromLeader } from './request-from-leader.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import type { LogEnds } from './log-ends.ts'
import type { RecordCache } from './record-cache.ts'
import { describeCode, errorCode } from './wire/error-codes.ts'
import { decodeRecordBatches, RecordBatchFormatError } from './wire/record-batch.ts'
import { fetchRequest, type FetchResult, type TopicPartition } from './wire/requests.ts'

const fetchBytesMin = 64 * 1024
const fetchBytesMax = 8 * 1024 * 1024

export type RecordReaderParts = {
  readonly cluster: KafkaCluster
  readonly ends: LogEnds
  readonly cache: RecordCache
  /** Timeout of a read, in milliseconds. */
  readonly answerWithinMs: number
  /** Maximum bytes of one batch after decompression. */
  readonly decompressedBytesMax: number
  readonly prepare?: PrepareRecords | undefined
}

/** Prepares records before they are returned; returns undefined if there is nothing to wait for. */
export type PrepareRecords = (records: readonly LogRecord[]) => Promise<void> | undefined

/**
 * Reads any partition from any offset, directly from its leader, without a consumer group. A rebalance therefore never pauses a
 * read.
 */
export class RecordReader {
  readonly #parts: RecordReaderParts
  /** Head of each partition at its last fetch. */
  readonly #seenHeads = new Map<string, number>()
  /** Running mean of the record size, so that a fetch returns about as much as the limits allow. */
  #recordBytesMean = 320
  /** Running mean of the bytes of values for each fetched byte: more than 1 if batches are compressed. */
  #growthMean = 1

  constructor(parts: RecordReaderParts) {
    this.#parts = parts
  }

  async read(at: TopicPartition, fromOffset: number, limits: ReadLimits): Promise<LogRecord[]> {
    const records = await this.#collect(at, fromOffset, limits)
    await this.#parts.prepare?.(records)
    return records
  }

  async #collect(at: TopicPartition, fromOffset: number, limits: ReadLimits): Promise<LogRecord[]> {
    const taken: LogRecord[] = []
    let left = limits
    for (let offset = fromOffset; ; offset = taken.at(-1)!.offset + 1) {
      const run =
        this.#parts.cache.take(at.topic, at.partition, offset) ??
        (await this.#fetchAfter(taken, at, offset, left))
      const count = countWithin(run, left, taken.length === 0)
      for (let index = 0; index < count; index += 1) taken.push(run[index]!)
      if (count < run.length) {
        this.#parts.cache.put(at.topic, at.partition, run.slice(count))
        return taken
      }
      left = less(left, run)
      const next = (taken.at(-1)?.offset ?? -1) + 1
      const isDone = run.length === 0 || left.recordsMax === 0 || left.bytesMax <= 0
      if (isDone || next >= (this.#seenHeads.get(keyOf(at)) ?? 0)) return taken
    }
  }

  /** Fetches the next records. If they cannot be decoded, those in `taken` are returned first, and the next read fails. */
  async #fetchAfter(
    taken: readonly LogRecord[],
    at: TopicPartition,
    offset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]> {
    try {
      return await this.#fetch(at, offset, limits)
    } catch (error) {
      if (error instanceof RecordBatchFormatError && taken.length > 0) return []
      throw error
    }
  }

  async #fetch(at: TopicPartition, fromOffset: number, limits: ReadLimits): Promise<LogRecord[]> {
    const bytesMax = this.#bytesFor(limits)
    const result = await requestFromLeader(
      this.#parts.cluster,
      at,
      this.#parts.answerWithinMs,
      async (leader) => {
        const wanted = { ...at, fromOffset, bytesMax }
        const [only] = await this.#parts.cluster.send(
          leader,
          fetchRequest([wanted], { waitMs: 0, bytesMax }),
        )
        return only!
      },
    )
    if (result.errorCode === errorCode.offsetOutOfRange) {
      return this.#fetchKept(at, fromOffset, limits)
    }
    return this.#decode(result, fromOffset)
  }

  /** Returns the records after a trimmed position, or none if the offset is after the head. */
  async #fetchKept(
    at: TopicPartition,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]> {
    const oldest = await this.#parts.ends.oldest(at)
    return fromOffset < oldest ? this.#fetch(at, oldest, limits) : []
  }

  #decode(result: FetchResult, fromOffset: number): LogRecord[] {
    if (result.errorCode !== errorCode.none) {
      const { topic, partition } = result
      throw new Error(`Cannot read ${topic}/${partition}: ${describeCode(result.errorCode)}`)
    }
    this.#seenHeads.set(keyOf(result), result.highWatermark)
    const { topic, partition, batches } = result
    try {
      const records = decodeRecordBatches(batches, fromOffset, this.#parts.decompressedBytesMax)
      this.#learnSizes(batches.byteLength, records)
      return records
    } catch (cause) {
      if (!(cause instanceof RecordBatchFormatError)) throw cause
      const message = `Cannot read ${topic}/${partition}: ${cause.message}`
      throw new RecordBatchFormatError(message, { cause })
    }
  }

  #learnSizes(fetchedBytes: number, records: readonly LogRecord[]): void {
    if (records.length === 0) return
    const valueBytes = records.reduce((sum, { value }) => sum + value.byteLength, 0)
    this.#recordBytesMean += (fetchedBytes / records.length - this.#recordBytesMean) / 8
    this.#growthMean += (Math.max(1, valueBytes / fetchedBytes) - this.#growthMean) / 8
  }

  #bytesFor({ recordsMax, bytesMax }: ReadLimits): number {
    const expected = Math.min(recordsMax * this.#recordBytesMean, bytesMax / this.#growthMean)
    return Math.ceil(Math.min(fetchBytesMax, Math.max(fetchBytesMin, expected)))
  }
}

/** Returns how many records of the run fit the limits; at least the very first one. */
function countWithin(
  run: readonly LogRecord[],
  { recordsMax, bytesMax }: ReadLimits,
  isFirst: boolean,
): number {
  let bytes = 0
  for (let count = 0; count < run.length; count += 1) {
    bytes += run[count]!.value.byteLength
    const isOver = count >= recordsMax || bytes > bytesMax
    if (isOver && !(isFirst && count === 0)) return count
  }
  return run.length
}

function less({ recordsMax, bytesMax }: ReadLimits, run: readonly LogRecord[]): ReadLimits {
  return {
    recordsMax: Math.max(0, recordsMax - run.length),
    bytesMax: run.reduce((left, { value }) => left - value.byteLength, bytesMax),
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
