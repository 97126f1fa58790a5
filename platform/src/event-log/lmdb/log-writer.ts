import { committed } from '../../lmdb/commit-error.ts'
import { Doorbell } from '../../lmdb/doorbell.ts'
import type { LmdbStore } from '../../lmdb/environment.ts'
import { WakeUps } from '../../lmdb/wake-ups.ts'
import { claimWriter, releaseClaim } from '../../lmdb/writer-claim.ts'
import type { LogAppend } from '../event-log.ts'
import { GroupCommit, PartitionWriter, type GroupCommitLimits } from './group-commit.ts'
import { StoredBatches } from './stored-batches.ts'
import { createTopics, type TopicCatalogue } from './topic-catalogue.ts'

type TopicWriter = {
  readonly partitions: readonly PartitionWriter[]
  readonly wakeUps: WakeUps
}

/** The one process that appends. */
export class LogWriter {
  readonly topics: TopicCatalogue
  readonly #store: LmdbStore
  readonly #bell: Doorbell
  readonly #groupCommit: GroupCommit
  readonly #writers = new Map<string, TopicWriter>()
  readonly #wakeUpsById = new Map<number, WakeUps>()

  private constructor(
    store: LmdbStore,
    bell: Doorbell,
    topics: TopicCatalogue,
    limits: GroupCommitLimits,
  ) {
    this.#store = store
    this.#bell = bell
    this.topics = topics
    this.#groupCommit = new GroupCommit(store, limits, (topicIds) => this.#announce(topicIds))
    const stored = new StoredBatches(store)
    for (const [name, { id, partitionCount }] of Object.entries(topics)) {
      const partitions = Array.from(
        { length: partitionCount },
        (_, partition) => new PartitionWriter(id, partition, stored.head(id, partition)),
      )
      const wakeUps = new WakeUps()
      this.#writers.set(name, { partitions, wakeUps })
      this.#wakeUpsById.set(id, wakeUps)
    }
  }

  /** Refuses when another process writes. The heads are read after that, so they stand still. */
  static async open(
    store: LmdbStore,
    folder: string,
    topics: Readonly<Record<string, number>>,
    limits: GroupCommitLimits,
  ): Promise<LogWriter> {
    const bell = await Doorbell.open(folder)
    try {
      await claimWriter(store, bell, folder)
      return new LogWriter(store, bell, createTopics(store, topics), limits)
    } catch (error) {
      await bell.close()
      throw error
    }
  }

  append(
    topic: string,
    partition: number,
    value: Uint8Array,
    receivedAtMs: number,
  ): Promise<number> {
    return this.#groupCommit.append(this.#partition(topic, partition), value, receivedAtMs)
  }

  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]> {
    for (const { partition } of records) this.#partition(topic, partition)
    const { partitions } = this.#topic(topic)
    return this.#groupCommit.appendAll(partitions, records, receivedAtMs)
  }

  head(topic: string, partition: number): number {
    return this.#partition(topic, partition).head
  }

  waitForAppend(topic: string, timeoutMs: number): Promise<void> {
    return this.#topic(topic).wakeUps.wait(timeoutMs)
  }

  /** The keys go in one transaction, between two commits of records. */
  async remove(keys: readonly Buffer[]): Promise<void> {
    const removed = this.#store.batch(() => {
      for (const key of keys) void this.#store.remove(key)
    })
    await committed(removed)
  }

  checkWritable(): Promise<void> {
    return this.#groupCommit.checkWritable()
  }

  async close(): Promise<void> {
    await this.#groupCommit.close()
    releaseClaim(this.#store, this.#bell)
    await this.#bell.close()
    for (const wakeUps of this.#wakeUpsById.values()) wakeUps.wake()
  }

  #announce(topicIds: ReadonlySet<number>): void {
    for (const topicId of topicIds) {
      this.#bell.ring(topicId)
      this.#wakeUpsById.get(topicId)!.wake()
    }
  }

  #topic(topic: string): TopicWriter {
    const writer = this.#writers.get(topic)
    if (writer === undefined) throw new RangeError(`The event log has no topic ${topic}.`)
    return writer
  }

  #partition(topic: string, partition: number): PartitionWriter {
    const writer = this.#topic(topic).partitions[partition]
    if (writer === undefined) throw new RangeError(`There is no ${topic} partition ${partition}.`)
    return writer
  }
}
