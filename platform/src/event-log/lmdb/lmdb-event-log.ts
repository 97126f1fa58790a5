import { DoorbellListener } from '../../lmdb/doorbell.ts'
import { openEnvironment, type LmdbStore } from '../../lmdb/environment.ts'
import { claimedPath } from '../../lmdb/writer-claim.ts'
import {
  EventLogUnavailableError,
  type EventLog,
  type GroupPosition,
  type LogAppend,
  type LogRecord,
  type ReadLimits,
} from '../event-log.ts'
import { GroupPositions } from './group-positions.ts'
import { LogWriter } from './log-writer.ts'
import { StoredBatches } from './stored-batches.ts'
import { readTopics, type TopicCatalogue } from './topic-catalogue.ts'

export type LmdbEventLogOptions = {
  /** Folder of the log's environment. One process writes it, any number read it. */
  readonly logFolder: string
  /** Folder of the consumer groups' positions, which every consumer writes. */
  readonly groupsFolder: string
  /** A second writer is refused while the first one lives. */
  readonly role: 'writer' | 'reader'
  /**
   * Partition count by topic. The writer creates topics that are missing; a count that differs from the stored one is
   * refused, because a subject's records must stay in one partition. Readers take what is stored.
   */
  readonly topics: Readonly<Record<string, number>>
  /** Bytes that may wait for the disk before appends are refused. Default 64 MiB. */
  readonly pendingBytesMax?: number
  /** Bytes of one stored batch; what a commit has more is split. Default 256 KiB. */
  readonly batchBytesMax?: number
  /** Milliseconds a reader waits for the writer to create the log. Default 30,000. */
  readonly createdWithinMs?: number
}

const formatVersion = 1
const mebibyte = 2 ** 20
/** Batches deleted per transaction, so that appends wait for a trim no longer than for each other. */
const trimBatchesMax = 1000

export async function openLmdbEventLog(options: LmdbEventLogOptions): Promise<EventLog> {
  const createdWithinMs = options.createdWithinMs ?? 30_000
  const store = await openEnvironment({
    folder: options.logFolder,
    content: 'event log',
    formatVersion,
    access: options.role === 'writer' ? 'write' : 'read',
    syncLater: false,
    createdWithinMs,
  })
  try {
    const groups = await openEnvironment({
      folder: options.groupsFolder,
      content: 'record of consumer positions',
      formatVersion,
      access: 'write',
      syncLater: false,
      createdWithinMs,
    })
    const writer = options.role === 'writer' ? await openWriter(store, options) : undefined
    return new LmdbEventLog(store, groups, writer)
  } catch (error) {
    await store.close()
    throw error
  }
}

function openWriter(store: LmdbStore, options: LmdbEventLogOptions): Promise<LogWriter> {
  return LogWriter.open(store, options.logFolder, options.topics, {
    pendingBytesMax: options.pendingBytesMax ?? 64 * mebibyte,
    batchBytesMax: options.batchBytesMax ?? mebibyte / 4,
  })
}

class LmdbEventLog implements EventLog {
  readonly #store: LmdbStore
  readonly #groupsStore: LmdbStore
  readonly #groups: GroupPositions
  readonly #stored: StoredBatches
  readonly #writer: LogWriter | undefined
  readonly #listener: DoorbellListener
  #topics: TopicCatalogue

  constructor(store: LmdbStore, groupsStore: LmdbStore, writer: LogWriter | undefined) {
    this.#store = store
    this.#groupsStore = groupsStore
    this.#groups = new GroupPositions(groupsStore)
    this.#stored = new StoredBatches(store)
    this.#writer = writer
    this.#topics = writer?.topics ?? readTopics(store)
    this.#listener = new DoorbellListener(() => claimedPath(store))
  }

  partitionCount(topic: string): number {
    return this.#topic(topic).partitionCount
  }

  append(
    topic: string,
    partition: number,
    value: Uint8Array,
    receivedAtMs: number,
  ): Promise<number> {
    if (this.#writer === undefined) return Promise.reject(readingOnly())
    return this.#writer.append(topic, partition, value, receivedAtMs)
  }

  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]> {
    if (this.#writer === undefined) return Promise.reject(readingOnly())
    return this.#writer.appendAll(topic, records, receivedAtMs)
  }

  head(topic: string, partition: number): number {
    if (this.#writer !== undefined) return this.#writer.head(topic, partition)
    return this.#stored.head(this.#topic(topic).id, partition)
  }

  oldest(topic: string, partition: number): number {
    return this.#stored.oldest(this.#topic(topic).id, partition)
  }

  async read(
    topic: string,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]> {
    return this.#stored.read(this.#topic(topic).id, partition, fromOffset, limits)
  }

  waitForAppend(topic: string, timeoutMs: number): Promise<void> {
    if (this.#writer !== undefined) return this.#writer.waitForAppend(topic, timeoutMs)
    return this.#listener.wait(this.#topic(topic).id, timeoutMs)
  }

  async position(group: string, topic: string, partition: number): Promise<GroupPosition> {
    return this.#groups.read(group, topic, partition)
  }

  commit(
    group: string,
    topic: string,
    partition: number,
    expected: GroupPosition,
    next: GroupPosition,
  ): Promise<void> {
    return this.#groups.commit(group, topic, partition, expected, next)
  }

  async trim(
    topic: string,
    partition: number,
    receivedBeforeMs: number,
    groups: readonly string[],
  ): Promise<void> {
    const writer = this.#writer
    if (writer === undefined) throw readingOnly()
    const { id } = this.#topic(topic)
    const positions = groups.map((group) => this.#groups.read(group, topic, partition).offset)
    // The last batch stays, whatever its age: the head is read from its key.
    const belowOffset = Math.min(writer.head(topic, partition) - 1, ...positions)
    for (;;) {
      const keys = this.#stored.expired(
        id,
        partition,
        receivedBeforeMs,
        belowOffset,
        trimBatchesMax,
      )
      if (keys.length > 0) await writer.remove(keys)
      if (keys.length < trimBatchesMax) return
    }
  }

  async checkWritable(): Promise<void> {
    if (this.#writer === undefined) throw readingOnly()
    await this.#writer.checkWritable()
  }

  async close(): Promise<void> {
    this.#listener.close()
    await this.#writer?.close()
    await this.#store.close()
    await this.#groupsStore.close()
  }

  #topic(topic: string) {
    // A reader may have opened before the writer added the topic.
    if (!(topic in this.#topics)) this.#topics = readTopics(this.#store)
    const entry = this.#topics[topic]
    if (entry === undefined) throw new RangeError(`The event log has no topic ${topic}.`)
    return entry
  }
}

function readingOnly(): EventLogUnavailableError {
  return new EventLogUnavailableError('This process opened the event log for reading only.')
}
