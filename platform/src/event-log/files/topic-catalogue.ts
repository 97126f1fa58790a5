import { DataFolderError } from '../../lmdb/environment.ts'
import { streamsMax } from './commit-format.ts'

export type TopicEntry = {
  readonly name: string
  readonly partitionCount: number
}

/**
 * The topics of a log in the order of their creation. Each partition has a stream number: its position in the list of all
 * partitions, which its records contain. So topics are only added at the end and their number of partitions never changes. Records
 * of one subject must also stay in one partition.
 */
export type TopicCatalogue = {
  readonly entries: readonly TopicEntry[]
  readonly streamCount: number
  find(name: string): Topic | undefined
}

export type Topic = TopicEntry & {
  /** Index of the topic in the list. */
  readonly id: number
  /** Stream number of partition 0. */
  readonly firstStream: number
}

export function createCatalogue(entries: readonly TopicEntry[]): TopicCatalogue {
  const topics = new Map<string, Topic>()
  let streamCount = 0
  for (const [id, entry] of entries.entries()) {
    topics.set(entry.name, { ...entry, id, firstStream: streamCount })
    streamCount += entry.partitionCount
  }
  return { entries, streamCount, find: (name) => topics.get(name) }
}

/** Returns the catalogue with missing topics added. Throws a DataFolderError if a topic has another number of partitions. */
export function withTopics(
  catalogue: TopicCatalogue,
  wanted: Readonly<Record<string, number>>,
): TopicCatalogue {
  const added: TopicEntry[] = []
  for (const [name, partitionCount] of Object.entries(wanted)) {
    const existing = catalogue.find(name)
    if (existing === undefined) {
      added.push({ name, partitionCount })
    } else if (existing.partitionCount !== partitionCount) {
      throw new DataFolderError(
        `Topic ${name} has ${existing.partitionCount} partitions, which cannot become ${partitionCount}.`,
      )
    }
  }
  if (added.length === 0) return catalogue
  const grown = createCatalogue([...catalogue.entries, ...added])
  if (grown.streamCount <= streamsMax) return grown
  throw new DataFolderError(
    `The topics have ${grown.streamCount} partitions together; a log holds up to ${streamsMax}.`,
  )
}

/** Returns the stream number of a partition. Throws a RangeError if it does not exist. */
export function streamOf(topic: Topic, partition: number): number {
  if (!(partition >= 0 && partition < topic.partitionCount)) {
    throw new RangeError(`There is no ${topic.name} partition ${partition}.`)
  }
  return topic.firstStream + partition
}
