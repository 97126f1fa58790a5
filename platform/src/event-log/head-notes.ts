import { setTimeout as sleep } from 'node:timers/promises'
import type { AcknowledgedHeads } from './acknowledged-heads.ts'

/** An acknowledgement waits no longer for its note. */
const noteWithinMs = 250
/** Notes that fail are not waited for again before this has passed. */
const failedPauseMs = 1_000

/** Notes heads, each once, and never at the cost of those who wait for it. */
export class HeadNotes {
  readonly #heads: AcknowledgedHeads
  readonly #noted = new Map<string, number>()
  #failedAtMs = -Infinity

  constructor(heads: AcknowledgedHeads) {
    this.#heads = heads
  }

  /** Resolves when it is noted, or cannot be. */
  async note(topic: string, partition: number, head: number): Promise<void> {
    const place = `${topic}/${partition}`
    if ((this.#noted.get(place) ?? 0) >= head) return
    const noting = this.#heads.note(topic, partition, head).then(
      () => this.#noted.set(place, Math.max(head, this.#noted.get(place) ?? 0)),
      () => (this.#failedAtMs = performance.now()),
    )
    if (performance.now() - this.#failedAtMs < failedPauseMs) return
    const waiting = new AbortController()
    const late = sleep(noteWithinMs, undefined, { signal: waiting.signal }).then(
      () => (this.#failedAtMs = performance.now()),
      () => undefined,
    )
    await Promise.race([noting, late])
    waiting.abort()
  }
}
