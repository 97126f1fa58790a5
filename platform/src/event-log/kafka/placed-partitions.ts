import type { LogNotes } from './log-notes.ts'

/** A topic has another number of partitions than its records were placed on. */
export class PlacedPartitionsError extends Error {
  override readonly name = 'PlacedPartitionsError'

  constructor(topic: string, placed: number, found: number) {
    const wayOut =
      found > placed
        ? `Kafka cannot take partitions away: set TOLLGATE_KAFKA_ADDED_PARTITIONS=ignore for all services, and the first ${placed} are used as before.`
        : 'Restore the topic. If its records were given up on purpose, delete the topic tollgate.log-notes too, then start ingest first.'
    super(
      `The topic ${topic} has ${found} partitions, but its records were placed on ${placed}: usage of a customer would be looked for in another partition than it is in. ${wayOut}`,
    )
  }
}

/**
 * Compares the number of partitions of each topic with the recorded number. Returns the number in use, by topic. Throws a
 * PlacedPartitionsError if they differ, unless partitions were added and `ignoresAdded` is true.
 */
export function usedPartitions(
  found: ReadonlyMap<string, number>,
  notes: Pick<LogNotes, 'partitionsOf'>,
  ignoresAdded: boolean,
): Map<string, number> {
  const used = new Map<string, number>()
  for (const [topic, count] of found) {
    const placed = notes.partitionsOf(topic) ?? count
    if (placed !== count && !(ignoresAdded && placed < count)) {
      throw new PlacedPartitionsError(topic, placed, count)
    }
    used.set(topic, placed)
  }
  return used
}
