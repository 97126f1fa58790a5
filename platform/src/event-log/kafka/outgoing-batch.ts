import { RecordBatchBuilder } from './wire/record-batch.ts'

/** Records of one partition that are sent, kept or refused together. */
export class OutgoingBatch {
  readonly records = new RecordBatchBuilder()
  /** When the first record came, by the monotonic clock. */
  readonly startedMs: number
  /** What everyone who appended to the batch gets. */
  readonly durable: Promise<void>
  /** The offset of the first record, once it is durable. */
  baseOffset = -1
  valueBytes = 0
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
