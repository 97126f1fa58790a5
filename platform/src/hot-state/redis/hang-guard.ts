import { setTimeout as sleep } from 'node:timers/promises'

const probePauseMs = 100

/**
 * Knows of a server that takes calls and answers none: from the first call that got no answer in time until a probe is
 * answered. One probe is under way at a time.
 */
export class HangGuard {
  readonly #isAnswered: () => Promise<boolean>
  #isHanging = false
  #isClosed = false

  /** `isAnswered` tries once, and ends in time. */
  constructor(isAnswered: () => Promise<boolean>) {
    this.#isAnswered = isAnswered
  }

  get isHanging(): boolean {
    return this.#isHanging
  }

  /** To be told of each call that got no answer in time. */
  noteTimeout(): void {
    if (this.#isHanging || this.#isClosed) return
    this.#isHanging = true
    void this.#untilAnswered()
  }

  close(): void {
    this.#isClosed = true
  }

  async #untilAnswered(): Promise<void> {
    while (!this.#isClosed && !(await this.#isAnswered())) {
      await sleep(probePauseMs, undefined, { ref: false })
    }
    this.#isHanging = false
  }
}
