import type { LogRecord } from '../event-log.ts'

/**
 * Caches fetched records that were not requested yet, by their first offset. A fetch returns whole batches, which rarely end at the
 * reader's limits; without the cache the rest would be fetched and decoded again.
 */
export class RecordCache {
  readonly #bytesMax: number
  /** Cached runs of records, the least recently used first. */
  readonly #runs = new Map<string, { readonly records: readonly LogRecord[]; bytes: number }>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Removes the run that begins at the offset from the cache and returns it. */
  take(topic: string, partition: number, offset: number): readonly LogRecord[] | undefined {
    return this.#remove(keyOf(topic, partition, offset))
  }

  put(topic: string, partition: number, records: readonly LogRecord[]): void {
    const [first] = records
    if (first === undefined) return
    const key = keyOf(topic, partition, first.offset)
    this.#remove(key)
    const bytes = records.reduce((sum, { value }) => sum + value.byteLength + recordOverhead, 0)
    this.#runs.set(key, { records, bytes })
    this.#bytes += bytes
    for (const oldest of this.#runs.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#remove(oldest)
    }
  }

  #remove(key: string): readonly LogRecord[] | undefined {
    const run = this.#runs.get(key)
    if (run === undefined) return undefined
    this.#runs.delete(key)
    this.#bytes -= run.bytes
    return run.records
  }
}

/** Memory of a record in addition to its value, in bytes. */
const recordOverhead = 160

function keyOf(topic: string, partition: number, offset: number): string {
  return `${topic}/${partition}/${offset}`
}
