import { DataFolderError, type LmdbStore } from '../../lmdb/environment.ts'
import { topicsKey } from './log-keys.ts'

export type TopicEntry = {
  readonly id: number
  readonly partitionCount: number
}

/** The topics of the log by name. A count never changes: records of a subject must stay in one partition. */
export type TopicCatalogue = Readonly<Record<string, TopicEntry>>

export function readTopics(store: LmdbStore): TopicCatalogue {
  store.resetReadTxn()
  const stored = store.getBinary(topicsKey)
  return stored === undefined ? {} : (JSON.parse(Buffer.from(stored).toString()) as TopicCatalogue)
}

/** Adds the topics that are not there yet, each with the count it will have for ever. */
export function createTopics(
  store: LmdbStore,
  wanted: Readonly<Record<string, number>>,
): TopicCatalogue {
  return store.transactionSync(() => {
    const topics = { ...readTopics(store) }
    for (const [name, partitionCount] of Object.entries(wanted)) {
      const existing = topics[name]
      if (existing === undefined) {
        topics[name] = { id: Object.keys(topics).length, partitionCount }
      } else if (existing.partitionCount !== partitionCount) {
        throw new DataFolderError(
          `Topic ${name} has ${existing.partitionCount} partitions, which cannot become ${partitionCount}.`,
        )
      }
    }
    store.putSync(topicsKey, Buffer.from(JSON.stringify(topics)))
    return topics
  })
}
