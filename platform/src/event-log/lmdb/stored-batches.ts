import type { LmdbStore } from '../../lmdb/environment.ts'
import type { LogRecord, ReadLimits } from '../event-log.ts'
import { batchCount, batchNewestReceivedAtMs, readBatch } from './batch-format.ts'
import { batchKey, lastOffsetOfKey, offsetMax } from './log-keys.ts'

/** The log as it lies on disk, read by any process. Every call sees the newest commit. */
export class StoredBatches {
  readonly #store: LmdbStore

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** One seek; no value is read. */
  head(topicId: number, partition: number): number {
    this.#store.resetReadTxn()
    const start = batchKey(topicId, partition, offsetMax)
    const end = batchKey(topicId, partition, 0)
    const range = { start, end, inclusiveEnd: true, reverse: true, limit: 1 }
    for (const key of this.#store.getKeys(range)) return lastOffsetOfKey(key) + 1
    return 0
  }

  oldest(topicId: number, partition: number): number {
    for (const { lastOffset, batch } of this.#from(topicId, partition, 0)) {
      return lastOffset - batchCount(batch) + 1
    }
    return 0
  }

  read(topicId: number, partition: number, fromOffset: number, limits: ReadLimits): LogRecord[] {
    const records: LogRecord[] = []
    let bytesLeft = limits.bytesMax
    for (const { lastOffset, batch } of this.#from(topicId, partition, fromOffset)) {
      bytesLeft = readBatch(batch, lastOffset, fromOffset, records, limits.recordsMax, bytesLeft)
      if (bytesLeft <= 0 || records.length >= limits.recordsMax) break
    }
    return records
  }

  /** Keys of the oldest batches that are wholly below `belowOffset` and older than `receivedBeforeMs`. */
  expired(
    topicId: number,
    partition: number,
    receivedBeforeMs: number,
    belowOffset: number,
    batchesMax: number,
  ): Buffer[] {
    const keys: Buffer[] = []
    for (const { key, lastOffset, batch } of this.#from(topicId, partition, 0)) {
      const isNeeded =
        lastOffset >= belowOffset || batchNewestReceivedAtMs(batch) >= receivedBeforeMs
      if (isNeeded || keys.length >= batchesMax) break
      keys.push(key)
    }
    return keys
  }

  *#from(topicId: number, partition: number, fromOffset: number) {
    this.#store.resetReadTxn()
    const start = batchKey(topicId, partition, fromOffset)
    const end = batchKey(topicId, partition, offsetMax)
    for (const { key, value } of this.#store.getRange({ start, end })) {
      yield {
        key,
        lastOffset: lastOffsetOfKey(key),
        batch: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
      }
    }
  }
}
