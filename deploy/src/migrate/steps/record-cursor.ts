import type { EventLog, LogRecord } from '@tollgate/platform/event-log/event-log'

const readLimits = { recordsMax: 2_000, bytesMax: 1_048_576 }

/** Goes through one partition of a log up to an offset, and compares. */
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

  /** Passes over the next record, and tells whether it is this one. */
  async isNext(wanted: Pick<LogRecord, 'receivedAtMs' | 'value'>): Promise<boolean> {
    const record = await this.#take()
    return (
      record.receivedAtMs === wanted.receivedAtMs &&
      Buffer.compare(record.value, wanted.value) === 0
    )
  }

  async #take(): Promise<LogRecord> {
    if (this.#read.length === 0) {
      const records = await this.#log.read(this.#topic, this.#partition, this.#next, readLimits)
      // The values share memory that the next read of another partition may use again.
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
