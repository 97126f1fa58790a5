import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@tollgate/platform/observability/logger'
import { attemptWithoutResponse } from '../domain/attempt-record.ts'
import { foldHealth, type AttemptReport } from '../domain/endpoint-health.ts'
import { isRefusal } from '../postgres/is-refusal.ts'
import type { DisabledEndpoint, Outcome } from '../postgres/record-outcomes.ts'

export type RecordParts = {
  readonly record: (
    outcomes: readonly Outcome[],
    health: ReturnType<typeof foldHealth>,
  ) => Promise<DisabledEndpoint[]>
  /** Called after each batch is committed, with the endpoints that it disabled. */
  readonly onRecorded: (disabled: readonly DisabledEndpoint[]) => void
  /** Called when the database refuses the outcome of an attempt; the outcome is then stored without the response. */
  readonly onRefused: (outcome: Outcome) => void
  readonly logger: Logger
  readonly retryPauseMs: number
}

type PendingOutcome = {
  readonly outcome: Outcome
  readonly reports: readonly AttemptReport[]
  readonly done: () => void
}

/**
 * Writes outcomes in batches: outcomes that end while one batch is written form the next batch. While the database is unavailable,
 * a batch is retried until it is written. `abandon` ends the retries; the leases of those deliveries expire and they are sent
 * again. A batch that the database refuses is split until the refused outcome is found.
 */
export class Recorder {
  readonly #parts: RecordParts
  #waiting: PendingOutcome[] = []
  #isWriting = false
  #isAbandoned = false

  constructor(parts: RecordParts) {
    this.#parts = parts
  }

  /** Resolves when the outcome is committed or abandoned. */
  add(outcome: Outcome, reports: readonly AttemptReport[]): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ outcome, reports, done })
      if (!this.#isWriting) void this.#write()
    })
  }

  /** Ends all retries, for a process that stops. */
  abandon(): void {
    this.#isAbandoned = true
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    // Outcomes that end in the same turn of the event loop share a batch.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax)
      const disabled = await this.#writeBatch(batch)
      for (const { done } of batch) done()
      this.#parts.onRecorded(disabled)
    }
    this.#isWriting = false
  }

  async #writeBatch(batch: readonly PendingOutcome[]): Promise<readonly DisabledEndpoint[]> {
    const written = await this.#writeOrRefuse(batch)
    if (written !== 'refused') return written
    const [one, ...others] = batch
    if (one !== undefined && others.length === 0) return this.#writeWithoutResponse(one)
    const middle = Math.ceil(batch.length / 2)
    const former = await this.#writeBatch(batch.slice(0, middle))
    return [...former, ...(await this.#writeBatch(batch.slice(middle)))]
  }

  /**
   * Stores the outcome without the response. If the database refuses that as well, the lease expires and the delivery is sent
   * again.
   */
  async #writeWithoutResponse(refused: PendingOutcome): Promise<readonly DisabledEndpoint[]> {
    this.#parts.onRefused(refused.outcome)
    const written = await this.#writeOrRefuse([
      { ...refused, outcome: withoutResponses(refused.outcome) },
    ])
    return written === 'refused' ? [] : written
  }

  async #writeOrRefuse(
    batch: readonly PendingOutcome[],
  ): Promise<readonly DisabledEndpoint[] | 'refused'> {
    const outcomes = batch.map(({ outcome }) => outcome)
    const health = foldHealth(batch.flatMap(({ reports }) => reports))
    for (;;) {
      try {
        return await this.#parts.record(outcomes, health)
      } catch (error) {
        this.#parts.logger.warn({ err: error }, 'could not store the outcomes of deliveries')
        if (isRefusal(error)) return 'refused'
        if (this.#isAbandoned) return []
        await sleep(this.#parts.retryPauseMs)
      }
    }
  }
}

/** Removes everything that the receiver sent, since its values are what the database may refuse. */
function withoutResponses(outcome: Outcome): Outcome {
  const attempts = outcome.attempts.map((attempt) => attemptWithoutResponse(attempt, 'unrecorded'))
  return { ...outcome, attempts }
}

const batchMax = 500
