import { setTimeout as sleep } from 'node:timers/promises'
import { openEnvironment, type LmdbStore } from '../../lmdb/environment.ts'
import {
  EventLogUnavailableError,
  type EventLog,
  type GroupPosition,
  type LogAppend,
  type LogRecord,
  type ReadLimits,
} from '../event-log.ts'
import { batchCount, batchNewestReceivedAtMs, readBatch } from './batch-format.ts'
import { GroupCommit, PartitionWriter } from './group-commit.ts'
import { GroupPositions } from './group-positions.ts'
import { batchKey, lastOffsetOfKey, offsetMax } from './log-keys.ts'
import { createTopics, readTopics, type TopicCatalogue } from './topic-catalogue.ts'

export type LmdbEventLogOptions = {
  /** Folder of the log's environment. One process writes it, any number read it. */
  readonly logFolder: string
  /** Folder of the consumer groups' positions, which every consumer writes. */
  readonly groupsFolder: string
  readonly role: 'writer' | 'reader'
  /** Partition count by topic. The writer creates missing topics; a count that differs from the stored one is refused. */
  readonly topics: Readonly<Record<string, number>>
  /** Bytes that may wait for the disk before appends are refused. Default 64 MiB. */
  readonly pendingBytesMax?: number
  /** Bytes of one stored batch; a larger one is split. Default 256 KiB. */
  readonly batchBytesMax?: number
  /** Bytes the log may grow to on disk. Default 1 TiB; address space only, until it is used. */
  readonly logSizeMaxBytes?: number
  /** Milliseconds a reader waits for the writer to create the log. Default 30,000. */
  readonly createdWithinMs?: number
}

const formatVersion = 1
const mebibyte = 1024 * 1024

export async function openLmdbEventLog(options: LmdbEventLogOptions): Promise<EventLog> {
  const isWriter = options.role === 'writer'
  const createdWithinMs = options.createdWithinMs ?? 30_000
  const store = await openEnvironment({
    folder: options.logFolder,
    content: 'event log',
    formatVersion,
    access: isWriter ? 'write' : 'read',
    sizeMaxBytes: options.logSizeMaxBytes ?? mebibyte * mebibyte,
    syncLater: false,
    createdWithinMs,
  })
  const groups = await openEnvironment({
    folder: options.groupsFolder,
    content: 'record of consumer positions',
    formatVersion,
    access: 'write',
    sizeMaxBytes: 1024 * mebibyte,
    syncLater: false,
    createdWithinMs,
  })
  const topics = isWriter ? createTopics(store, options.topics) : readTopics(store)
  return new LmdbEventLog(store, groups, topics, options)
}

class LmdbEventLog implements EventLog {
  readonly #store: LmdbStore
  readonly #groupsStore: LmdbStore
  readonly #groups: GroupPositions
  readonly #topics: TopicCatalogue
  readonly #writers = new Map<string, readonly PartitionWriter[]>()
  readonly #groupCommit: GroupCommit | undefined

  constructor(
    store: LmdbStore,
    groupsStore: LmdbStore,
    topics: TopicCatalogue,
    options: LmdbEventLogOptions,
  ) {
    this.#store = store
    this.#groupsStore = groupsStore
    this.#groups = new GroupPositions(groupsStore)
    this.#topics = topics
    if (options.role === 'reader') return
    this.#groupCommit = new GroupCommit(store, {
      pendingBytesMax: options.pendingBytesMax ?? 64 * mebibyte,
      batchBytesMax: options.batchBytesMax ?? mebibyte / 4,
      onCommitted: () => undefined,
    })
    for (const [name, { id, partitionCount }] of Object.entries(topics)) {
      const writers = Array.from(
        { length: partitionCount },
        (_, partition) => new PartitionWriter(id, partition, this.#storedHead(id, partition)),
      )
      this.#writers.set(name, writers)
    }
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
    return this.#committer().append(this.#writer(topic, partition), value, receivedAtMs)
  }

  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]> {
    for (const { partition } of records) this.#writer(topic, partition)
    return this.#committer().appendAll(this.#writers.get(topic) ?? [], records, receivedAtMs)
  }

  head(topic: string, partition: number): number {
    if (this.#groupCommit !== undefined) return this.#writer(topic, partition).head
    this.#store.resetReadTxn()
    return this.#storedHead(this.#topic(topic).id, partition)
  }

  oldest(topic: string, partition: number): number {
    this.#store.resetReadTxn()
    const { id } = this.#topic(topic)
    for (const { key, value } of this.#batches(id, partition, 0)) {
      return lastOffsetOfKey(key) - batchCount(value) + 1
    }
    return 0
  }

  async read(
    topic: string,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]> {
    this.#store.resetReadTxn()
    const { id } = this.#topic(topic)
    const records: LogRecord[] = []
    let bytesLeft = limits.bytesMax
    for (const { key, value } of this.#batches(id, partition, fromOffset)) {
      const last = lastOffsetOfKey(key)
      bytesLeft = readBatch(value, last, fromOffset, records, limits.recordsMax, bytesLeft)
      if (bytesLeft <= 0 || records.length >= limits.recordsMax) break
    }
    return records
  }

  async waitForAppend(_topic: string, timeoutMs: number): Promise<void> {
    await sleep(Math.min(timeoutMs, 2))
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
    this.#committer()
    this.#store.resetReadTxn()
    const { id } = this.#topic(topic)
    // The last batch stays whatever its age: it is what the head is read from.
    const passed = groups.map((group) => this.#groups.read(group, topic, partition).offset)
    const limit = Math.min(this.head(topic, partition) - 1, ...passed)
    const doomed: Buffer[] = []
    for (const { key, value } of this.#batches(id, partition, 0)) {
      if (lastOffsetOfKey(key) >= limit || batchNewestReceivedAtMs(value) >= receivedBeforeMs) break
      doomed.push(key)
    }
    await this.#store.batch(() => {
      for (const key of doomed) void this.#store.remove(key)
    })
  }

  async checkWritable(): Promise<void> {
    const refusal = this.#committer().refusal(0)
    if (refusal !== undefined) throw refusal
  }

  async close(): Promise<void> {
    await this.#groupCommit?.close()
    await this.#store.close()
    await this.#groupsStore.close()
  }

  #storedHead(topicId: number, partition: number): number {
    const start = batchKey(topicId, partition, offsetMax)
    const end = batchKey(topicId, partition, 0)
    const range = { start, end, inclusiveEnd: true, reverse: true, limit: 1 }
    for (const key of this.#store.getKeys(range)) return lastOffsetOfKey(key) + 1
    return 0
  }

  *#batches(topicId: number, partition: number, fromOffset: number) {
    const start = batchKey(topicId, partition, fromOffset)
    const end = batchKey(topicId, partition, offsetMax)
    for (const { key, value } of this.#store.getRange({ start, end })) {
      yield { key, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) }
    }
  }

  #topic(topic: string) {
    const entry = this.#topics[topic]
    if (entry === undefined) throw new RangeError(`The event log has no topic ${topic}.`)
    return entry
  }

  #writer(topic: string, partition: number): PartitionWriter {
    const writer = this.#writers.get(topic)?.[partition]
    if (writer === undefined) throw new RangeError(`There is no ${topic} partition ${partition}.`)
    return writer
  }

  #committer(): GroupCommit {
    if (this.#groupCommit !== undefined) return this.#groupCommit
    throw new EventLogUnavailableError('This process opened the event log for reading only.')
  }
}
