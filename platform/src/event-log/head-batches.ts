/** Records heads of one topic by partition. */
type RecordHeads = (topic: string, heads: ReadonlyMap<number, number>) => Promise<void>

type Batch = { readonly heads: Map<number, number>; readonly done: Promise<void> }

/** Records the heads of one turn of the event loop together, the highest of each partition. */
export class HeadBatches {
  readonly #record: RecordHeads
  /** Heads of this turn, by topic. */
  readonly #next = new Map<string, Batch>()

  constructor(record: RecordHeads) {
    this.#record = record
  }

  /** Resolves or rejects as the recording of the batch does. */
  add(topic: string, partition: number, head: number): Promise<void> {
    let batch = this.#next.get(topic)
    if (batch === undefined) {
      batch = this.#begin(topic)
      this.#next.set(topic, batch)
    }
    batch.heads.set(partition, Math.max(head, batch.heads.get(partition) ?? 0))
    return batch.done
  }

  #begin(topic: string): Batch {
    const heads = new Map<number, number>()
    const done = new Promise<void>((resolve, reject) => {
      // One response of the log resolves many appends, all of them before the next tick.
      process.nextTick(() => {
        this.#next.delete(topic)
        this.#record(topic, heads).then(resolve, reject)
      })
    })
    return { heads, done }
  }
}
