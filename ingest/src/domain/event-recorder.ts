import type { Environment } from '@tollgate/schemas/environment'
import type { PlacedEvent } from './placed-event.ts'

/** 'duplicate': the idempotency key was used before, and nothing was stored this time. */
export type RecordOutcome = 'recorded' | 'duplicate'

/** Appends events to the log. Resolves once they are durable. Rejects with UnavailableError if nothing was stored. */
export interface EventRecorder {
  record(environment: Environment, placed: PlacedEvent): Promise<RecordOutcome>
  /**
   * Records all events or none, and returns the outcomes in input order. A key that occurs twice in the list is a duplicate the
   * second time.
   */
  recordAll(environment: Environment, placed: readonly PlacedEvent[]): Promise<RecordOutcome[]>
  /** Throws UnavailableError if `count` more records would be refused now. Call it before work that would be lost then. */
  requireCapacity(count: number): void
  /** Returns the ids of events whose idempotency key is already known. Recording these events would store nothing. */
  listKnown(environment: Environment, placed: readonly PlacedEvent[]): Promise<ReadonlySet<string>>
}
