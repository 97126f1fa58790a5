import { RecordBatchBuilder } from './wire/record-batch.ts'

/** Records of one partition that are sent together, and stored or refused together. */
export class OutgoingBatch {
  readonly records = new RecordBatchBuilder()
  /** Time of the first record, on the monotonic clock. */
  readonly startedMs: number
  /** The promise of every append to this batch. */
  readonly durable: Promise<void>
  /** Offset of the first record once it is durable; -1 before. */
  baseOffset = -1
  valueBytes = 0
  /** Sequence number of the first record in the current producer session. Undefined until the batch is sent in that session. */
  firstSequence: number | undefined
  /** True once the batch was sent. It accepts no records after that. */
  isClosed = false
  /** True if the log may have the batch: it was sent, and the broker has not said that it did not store it. */
  mayBeStored = false
  #keep = (): void => undefined
  #refuse: (error: Error) => void = () => undefined

  constructor(nowMs: number) {
    this.startedMs = nowMs
    this.durable = new Promise((resolve, reject) => {
      this.#keep = resolve
      this.#refuse = reject
    })
  }

  kept(): void {
    this.#keep()
  }

  refused(error: Error): void {
    this.#refuse(error)
  }
}
