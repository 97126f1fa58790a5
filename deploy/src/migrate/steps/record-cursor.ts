import type { EventLog, LogRecord } from '@tollgate/platform/event-log/event-log'

const readLimits = { recordsMax: 2_000, bytesMax: 1_048_576 }

/** Reads one partition of a log up to an offset and compares its records. */
export class RecordCursor {
  readonly #log: EventLog
  readonly #topic: string
  readonly #partition: number
  readonly #end: number
  #next: number
  #read: LogRecord[] = []

  constructor(log: EventLog, topic: string, partition: number, from: number, end: number) {
    this.#log = log
    this.#topic = topic
    this.#partition = partition
    this.#next = from
    this.#end = end
  }

  get isAtEnd(): boolean {
    return this.#next >= this.#end
  }

  /** Advances past the next record and returns whether it equals the given one. */
  async takeIfEqual(wanted: Pick<LogRecord, 'receivedAtMs' | 'value'>): Promise<boolean> {
    const record = await this.#take()
    return (
      record.receivedAtMs === wanted.receivedAtMs &&
      Buffer.compare(record.value, wanted.value) === 0
    )
  }

  async #take(): Promise<LogRecord> {
    if (this.#read.length === 0) {
      const records = await this.#log.read(this.#topic, this.#partition, this.#next, readLimits)
      // Copy the values, because they share a buffer that the next read of another partition may overwrite.
      this.#read = records.map((each) => ({ ...each, value: new Uint8Array(each.value) })).reverse()
    }
    const record = this.#read.pop()
    if (record?.offset !== this.#next) {
      throw new Error(`${this.#topic}/${this.#partition} has no record ${this.#next}`)
    }
    this.#next += 1
    return record
  }
}
