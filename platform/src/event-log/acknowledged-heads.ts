/**
 * How far each partition of a log was acknowledged, by whatever process, kept apart from the log: for the time when a
 * log behind a network cannot be asked for its heads.
 */
export interface AcknowledgedHeads {
  /** Notes, by partition, that all records with smaller offsets may have been acknowledged. Never moves one back. */
  note(topic: string, heads: ReadonlyMap<number, number>): Promise<void>

  /** The largest head that was noted; undefined when none is known, also after a loss. */
  read(topic: string, partition: number): Promise<number | undefined>
}
