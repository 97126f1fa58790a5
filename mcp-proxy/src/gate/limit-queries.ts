import type { AskLimits, LimitsAnswer } from './ask-limits.ts'

/** Sends queries for limits without holds to ingest, and knows whether ingest answers any of them at present. */
export class LimitQueries {
  readonly #askLimits: AskLimits
  readonly #patienceMs: number
  #unanswered = 0
  /** When ingest answered last, or when the first of the unanswered queries was sent, in milliseconds of `performance.now()`. */
  #waitingSinceMs = 0
  #isAway = false

  constructor(askLimits: AskLimits, patienceMs: number) {
    this.#askLimits = askLimits
    this.#patienceMs = patienceMs
  }

  async ask(call: Parameters<AskLimits>[0]): Promise<LimitsAnswer> {
    if (this.#unanswered === 0) this.#waitingSinceMs = performance.now()
    this.#unanswered += 1
    try {
      const answer = await this.#askLimits(call)
      this.#isAway = answer.kind === 'unknown' && answer.isAway === true
      if (!this.#isAway) this.#waitingSinceMs = performance.now()
      return answer
    } finally {
      this.#unanswered -= 1
    }
  }

  /**
   * Returns whether the last query failed without an answer, or whether ingest has answered none for longer than `patienceMs` although
   * one is waiting. A customer whose query alone is slow does not count.
   */
  isOverdue(nowMs: number): boolean {
    const isWaitingLong = nowMs - this.#waitingSinceMs > this.#patienceMs
    return this.#isAway || (this.#unanswered > 0 && isWaitingLong)
  }
}
