import type { AskLimits, LimitsAnswer } from './ask-limits.ts'

/** Sends queries for limits without holds to ingest, and knows whether ingest answers them at present. */
export class LimitQueries {
  readonly #askLimits: AskLimits
  readonly #patienceMs: number
  /** Times at which the unanswered queries were sent, oldest first, in milliseconds of `performance.now()`. */
  readonly #unanswered = new Set<{ readonly sentAtMs: number }>()
  #isFailing = false

  constructor(askLimits: AskLimits, patienceMs: number) {
    this.#askLimits = askLimits
    this.#patienceMs = patienceMs
  }

  async ask(call: Parameters<AskLimits>[0]): Promise<LimitsAnswer> {
    const query = { sentAtMs: performance.now() }
    this.#unanswered.add(query)
    try {
      const answer = await this.#askLimits(call)
      this.#isFailing = answer.kind === 'unknown'
      return answer
    } finally {
      this.#unanswered.delete(query)
    }
  }

  /** Returns whether the last query failed, or a query of any customer is unanswered for longer than `patienceMs`. */
  isOverdue(nowMs: number): boolean {
    if (this.#isFailing) return true
    const [oldest] = this.#unanswered
    return oldest !== undefined && nowMs - oldest.sentAtMs > this.#patienceMs
  }
}
