import { setTimeout as sleep } from 'node:timers/promises'

const probePauseMs = 100

/**
 * Detects a server that accepts calls without answering: from the first timeout until a probe is answered. Only one probe runs at a
 * time.
 */
export class HangGuard {
  readonly #isAnswered: () => Promise<boolean>
  #isHanging = false
  #isClosed = false

  /** `isAnswered` sends one probe with a timeout. */
  constructor(isAnswered: () => Promise<boolean>) {
    this.#isAnswered = isAnswered
  }

  get isHanging(): boolean {
    return this.#isHanging
  }

  /** Call this for each call that timed out. */
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
