import type { Environment } from '@tollgate/schemas/environment'
import type { PlacedEvent } from './placed-event.ts'

/** 'duplicate': the idempotency key was used before, and nothing was stored this time. */
export type RecordOutcome = 'recorded' | 'duplicate'

/** Puts events into the log. What it resolves is durable; it rejects with UnavailableError when nothing was kept. */
export interface EventRecorder {
  record(environment: Environment, placed: PlacedEvent): Promise<RecordOutcome>
  /** All or none, outcomes in input order. A key that occurs twice in the list is a duplicate the second time. */
  recordAll(environment: Environment, placed: readonly PlacedEvent[]): Promise<RecordOutcome[]>
  /** Throws UnavailableError where so many more would be refused now: for what must not be begun in vain. */
  expectRoom(count: number): void
  /** Ids of those whose idempotency key is known to have been used: recording them would store nothing. */
  listKnown(environment: Environment, placed: readonly PlacedEvent[]): Promise<ReadonlySet<string>>
}
