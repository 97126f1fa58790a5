import type { LogRecord } from '../event-log.ts'

/**
 * Records that were fetched and not asked for yet, by where they begin. A fetch brings whole batches, which rarely end
 * where a reader's limits do; without this the rest would be fetched and decoded over and over.
 */
export class RecordCache {
  readonly #bytesMax: number
  /** The longest unused first. */
  readonly #runs = new Map<string, { readonly records: readonly LogRecord[]; bytes: number }>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Takes what begins at the offset out of the cache. */
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

/** Bytes that a record takes beside its value. */
const recordOverhead = 160

function keyOf(topic: string, partition: number, offset: number): string {
  return `${topic}/${partition}/${offset}`
}
