import type { HomeNotes } from './note-lease/home-notes.ts'

/**
 * Records how far each partition of a log was acknowledged, by any process. It is stored outside of the log, for times when a log
 * behind a network cannot report its heads.
 */
export interface AcknowledgedHeads {
  /** Records, by partition, that all records with smaller offsets may have been acknowledged. A head never moves back. */
  note(topic: string, heads: ReadonlyMap<number, number>): Promise<void>

  /** Returns the largest recorded head. Undefined if none is known, for example after a data loss. */
  read(topic: string, partition: number): Promise<number | undefined>

  /** The same heads, with a proof of the server that they are complete. Undefined if the store has several servers. */
  readonly home?: HomeNotes | undefined
}
