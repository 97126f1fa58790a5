import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@tollgate/platform/observability/logger'
import { attemptWithoutAnswer } from '../domain/attempt-record.ts'
import { foldHealth, type EndpointNews } from '../domain/endpoint-health.ts'
import { isRefusal } from '../postgres/is-refusal.ts'
import type { DisabledEndpoint, Outcome } from '../postgres/record-outcomes.ts'

export type RecordParts = {
  readonly record: (
    outcomes: readonly Outcome[],
    health: ReturnType<typeof foldHealth>,
  ) => Promise<DisabledEndpoint[]>
  /** Called behind each batch that stands in the database. */
  readonly onRecorded: (disabled: readonly DisabledEndpoint[]) => void
  /** The database does not take what came of this attempt: it is written without what was answered. */
  readonly onRefused: (outcome: Outcome) => void
  readonly logger: Logger
  readonly retryPauseMs: number
}

type Waiting = {
  readonly outcome: Outcome
  readonly news: readonly EndpointNews[]
  readonly done: () => void
}

/**
 * Writes outcomes in batches: while one batch is written, what ends meanwhile makes the next. While the database is away a
 * batch is tried until it is written; whoever gives up before, by stopping, leaves it to the ends of the leases. A batch that
 * the database refuses is written in parts, until the one outcome is found that it does not take.
 */
export class Recorder {
  readonly #parts: RecordParts
  #waiting: Waiting[] = []
  #isWriting = false
  #isAbandoned = false

  constructor(parts: RecordParts) {
    this.#parts = parts
  }

  /** Resolves when the outcome stands in the database, or was abandoned. */
  add(outcome: Outcome, news: readonly EndpointNews[]): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ outcome, news, done })
      if (!this.#isWriting) void this.#write()
    })
  }

  /** Nothing is tried again from now on. */
  abandon(): void {
    this.#isAbandoned = true
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    // Those that end in the same turn of the event loop go together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax)
      const disabled = await this.#writeBatch(batch)
      for (const { done } of batch) done()
      this.#parts.onRecorded(disabled)
    }
    this.#isWriting = false
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<readonly DisabledEndpoint[]> {
    const written = await this.#tryBatch(batch)
    if (written !== 'refused') return written
    const [one, ...others] = batch
    if (one !== undefined && others.length === 0) return this.#writeBare(one)
    const middle = Math.ceil(batch.length / 2)
    const former = await this.#writeBatch(batch.slice(0, middle))
    return [...former, ...(await this.#writeBatch(batch.slice(middle)))]
  }

  /** If not even that is taken, its lease ends and it is sent again. */
  async #writeBare(refused: Waiting): Promise<readonly DisabledEndpoint[]> {
    this.#parts.onRefused(refused.outcome)
    const written = await this.#tryBatch([{ ...refused, outcome: withoutAnswers(refused.outcome) }])
    return written === 'refused' ? [] : written
  }

  async #tryBatch(batch: readonly Waiting[]): Promise<readonly DisabledEndpoint[] | 'refused'> {
    const outcomes = batch.map(({ outcome }) => outcome)
    const health = foldHealth(batch.flatMap(({ news }) => news))
    for (;;) {
      try {
        return await this.#parts.record(outcomes, health)
      } catch (error) {
        this.#parts.logger.warn({ err: error }, 'what became of deliveries could not be written')
        if (isRefusal(error)) return 'refused'
        if (this.#isAbandoned) return []
        await sleep(this.#parts.retryPauseMs)
      }
    }
  }
}

/** Nothing is left of it that somebody else sent. */
function withoutAnswers(outcome: Outcome): Outcome {
  const attempts = outcome.attempts.map((attempt) => attemptWithoutAnswer(attempt, 'unrecorded'))
  return { ...outcome, attempts }
}

const batchMax = 500
