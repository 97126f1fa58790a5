import type { AcknowledgedHeads } from './acknowledged-heads.ts'
import { HeadBatches } from './head-batches.ts'

/** Maximum time that an acknowledgement waits for its head to be recorded. */
const noteWithinMs = 250
/** After a failure, acknowledgements do not wait for this long. */
const failedPauseMs = 1_000

/**
 * Records acknowledged heads. Heads of one turn of the event loop are recorded together, each once, and failures delay no
 * acknowledgement for long.
 */
export class HeadNotes {
  readonly #heads: AcknowledgedHeads
  readonly #batches = new HeadBatches((topic, heads) => this.#note(topic, heads))
  readonly #noted = new Map<string, number>()
  #failedAtMs = -Infinity

  constructor(heads: AcknowledgedHeads) {
    this.#heads = heads
  }

  /** Resolves when the head is recorded, or could not be recorded in time. */
  acknowledge(topic: string, partition: number, head: number): Promise<void> {
    if (this.#notedHead(topic, partition) >= head) return Promise.resolve()
    return this.#batches.add(topic, partition, head)
  }

  async #note(topic: string, heads: ReadonlyMap<number, number>): Promise<void> {
    const noting = this.#heads.note(topic, heads).then(
      () => this.#remember(topic, heads),
      () => this.#noteFailure(),
    )
    if (performance.now() - this.#failedAtMs < failedPauseMs) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#noteFailure()
        resolve()
      }, noteWithinMs)
    })
    await Promise.race([noting, late])
    clearTimeout(timer)
  }

  #remember(topic: string, heads: ReadonlyMap<number, number>): void {
    for (const [partition, head] of heads) {
      const known = this.#notedHead(topic, partition)
      this.#noted.set(placeOf(topic, partition), Math.max(head, known))
    }
  }

  #noteFailure(): void {
    this.#failedAtMs = performance.now()
  }

  #notedHead(topic: string, partition: number): number {
    return this.#noted.get(placeOf(topic, partition)) ?? 0
  }
}

function placeOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}
