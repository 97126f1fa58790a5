import { DataFolderError } from '../../lmdb/environment.ts'
import { streamsMax } from './commit-format.ts'

export type TopicEntry = {
  readonly name: string
  readonly partitionCount: number
}

/**
 * The topics of a log in the order of their creation. A partition's place in the whole list is its stream number,
 * which its records carry; so topics are only ever added at the end, and a count never changes: the records of a
 * subject must stay in one partition.
 */
export type TopicCatalogue = {
  readonly entries: readonly TopicEntry[]
  readonly streamCount: number
  find(name: string): Topic | undefined
}

export type Topic = TopicEntry & {
  /** The topic's place in the list. */
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

/** Adds the topics that are not there yet, each with the count it will have for ever. */
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

/** The stream of one partition. */
export function streamOf(topic: Topic, partition: number): number {
  if (!(partition >= 0 && partition < topic.partitionCount)) {
    throw new RangeError(`There is no ${topic.name} partition ${partition}.`)
  }
  return topic.firstStream + partition
}
