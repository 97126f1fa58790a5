import type { AskLimits, LimitsAnswer } from './ask-limits.ts'

/** Sends queries for limits without holds to ingest, and knows whether ingest answers any of them at present. */
export class LimitQueries {
  readonly #askLimits: AskLimits
  readonly #patienceMs: number
  /** Times at which the unanswered queries were sent, oldest first, in milliseconds of `performance.now()`. */
  readonly #unanswered = new Set<{ readonly sentAtMs: number }>()
  #isAway = false
  #answeredAtMs = 0

  constructor(askLimits: AskLimits, patienceMs: number) {
    this.#askLimits = askLimits
    this.#patienceMs = patienceMs
  }

  async ask(call: Parameters<AskLimits>[0]): Promise<LimitsAnswer> {
    const query = { sentAtMs: performance.now() }
    this.#unanswered.add(query)
    try {
      const answer = await this.#askLimits(call)
      this.#isAway = answer.kind === 'unknown' && answer.isAway === true
      if (!this.#isAway) this.#answeredAtMs = performance.now()
      return answer
    } finally {
      this.#unanswered.delete(query)
    }
  }

  /**
   * Returns whether the last query failed without an answer, or whether ingest has answered none for longer than `patienceMs` although
   * one is waiting. A customer whose query alone is slow does not count.
   */
  isOverdue(nowMs: number): boolean {
    if (this.#isAway) return true
    const [oldest] = this.#unanswered
    if (oldest === undefined) return false
    return nowMs - Math.max(oldest.sentAtMs, this.#answeredAtMs) > this.#patienceMs
  }
}
