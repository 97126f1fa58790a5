import type { Logger } from '../../observability/logger.ts'
import {
  EventLogUnavailableError,
  GroupFencedError,
  type EventLog,
  type GroupMember,
  type GroupMembership,
  type GroupPosition,
  type LogAppend,
  type LogRecord,
  type ReadLimits,
} from '../event-log.ts'
import { AppendWatch } from './append-watch.ts'
import { requestFromLeader, retryUntilAnswered } from './request-from-leader.ts'
import { KafkaGroupMembership } from './group-membership.ts'
import { GroupPositions } from './group-positions.ts'
import type { GroupTimeouts } from './join-group.ts'
import { KafkaCluster } from './kafka-cluster.ts'
import type { KafkaConnection } from './kafka-node.ts'
import { LogEnds } from './log-ends.ts'
import { createTopics, PartitionCountError, type TopicPlan } from './create-topics.ts'
import type { LogNotes } from './log-notes.ts'
import { checkPositionsKept } from './check-positions-kept.ts'
import { PlacedPartitionsError, usedPartitions } from './placed-partitions.ts'
import { Producer } from './producer.ts'
import { RecordCache } from './record-cache.ts'
import { RecordReader, type PrepareRecords } from './record-reader.ts'
import { compressionOf, type WriterCodec } from './wire/compress.ts'
import { describeCode, errorCode } from './wire/error-codes.ts'
import { deleteRecordsRequest, type TopicPartition } from './wire/requests.ts'
import { loadZstd } from './wire/zstd.ts'

export type KafkaWriterOptions = TopicPlan & {
  /** How long a record may wait to become durable before its append is refused, in milliseconds. */
  readonly deliveryTimeoutMs: number
  /** Maximum bytes that wait for the brokers before appends are refused. Default: 64 MiB. */
  readonly pendingBytesMax?: number
  /** Maximum requests in flight to one broker: one or two. Default: two. */
  readonly requestsInFlightMax?: 1 | 2
  /** Codec of batches. Default: none. */
  readonly codec?: WriterCodec
}

export type KafkaEventLogOptions = {
  readonly connection: KafkaConnection
  readonly topics: readonly string[]
  /** Prefix of the names of topics and groups, so that several installations can share brokers. */
  readonly namePrefix: string
  /** Options of the writer. Without them, this process only reads. */
  readonly writer?: KafkaWriterOptions
  readonly groupTimeouts: GroupTimeouts
  /** Timeout of a read from the brokers, in milliseconds. */
  readonly answerWithinMs: number
  /** Maximum bytes of one batch after decompression; a larger one is not read. Default: 64 MiB. */
  readonly decompressedBytesMax?: number
  readonly logger: Logger
  /** Stored facts about the log. Without them, nothing is compared or recorded. */
  readonly notes?: LogNotes
  /** True to use only the original partitions if some were added. */
  readonly ignoresAddedPartitions?: boolean
  /** Called with all records before they are returned. */
  readonly prepareRecords?: PrepareRecords | undefined
  /** Milliseconds that a reader waits for a writer to create the topics. Default: 30,000. */
  readonly createdWithinMs?: number
}

const mebibyte = 2 ** 20
/** Half of the brokers' default maximum, because a batch is closed after the record that fills it. */
const batchBytesMax = mebibyte / 2
const cacheBytesMax = 32 * mebibyte

export async function openKafkaEventLog(options: KafkaEventLogOptions): Promise<EventLog> {
  const log = new KafkaEventLog(options)
  try {
    await log.open()
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}

class KafkaEventLog implements EventLog {
  readonly #options: KafkaEventLogOptions
  readonly #cluster: KafkaCluster
  readonly #cache = new RecordCache(cacheBytesMax)
  readonly #decompressedBytesMax: number
  readonly #ends: LogEnds
  readonly #reader: RecordReader
  readonly #positions: GroupPositions
  readonly #watches = new Map<string, AppendWatch>()
  readonly #memberships = new Map<string, KafkaGroupMembership>()
  /** Number of partitions in use, by topic. */
  #partitionCounts: ReadonlyMap<string, number> = new Map()
  #producer: Producer | undefined
  #isClosed = false

  constructor(options: KafkaEventLogOptions) {
    const { answerWithinMs, decompressedBytesMax = 64 * mebibyte } = options
    const { logger, prepareRecords: prepare } = options
    this.#options = options
    this.#cluster = this.#newCluster(options.topics)
    this.#ends = new LogEnds({ cluster: this.#cluster, answerWithinMs, logger })
    this.#decompressedBytesMax = decompressedBytesMax
    this.#reader = new RecordReader({
      cluster: this.#cluster,
      ends: this.#ends,
      cache: this.#cache,
      answerWithinMs,
      decompressedBytesMax,
      prepare,
    })
    this.#positions = new GroupPositions(this.#cluster, answerWithinMs)
  }

  /** Creates the topics, or waits for them if this process only reads. */
  async open(): Promise<void> {
    const { topics, writer, createdWithinMs = 30_000 } = this.#options
    await loadZstd()
    await retryUntilAnswered(createdWithinMs, () => this.#learnTopics())
    await this.#compareWithNotes()
    if (writer === undefined) return
    for (const topic of topics) {
      const configured = writer.partitionCounts[topic]!
      const found = this.partitionCount(topic)
      if (configured !== found) throw new PartitionCountError(topic, configured, found)
    }
    await this.#notePartitions()
    const cluster = this.#newCluster(topics)
    await retryUntilAnswered(this.#options.answerWithinMs, () => cluster.refresh())
    this.#producer = new Producer(cluster, (at, head) => this.#ends.recordHead(at, head), {
      pendingBytesMax: writer.pendingBytesMax ?? 64 * mebibyte,
      batchBytesMax,
      deliveryTimeoutMs: writer.deliveryTimeoutMs,
      requestsInFlightMax: writer.requestsInFlightMax ?? 2,
      compression: compressionOf(writer.codec ?? 'none'),
    })
  }

  partitionCount(topic: string): number {
    const count = this.#partitionCounts.get(topic)
    if (count === undefined) throw new RangeError(`The event log has no topic ${topic}.`)
    return count
  }

  append(
    topic: string,
    partition: number,
    value: Uint8Array,
    receivedAtMs: number,
    key?: string,
  ): Promise<void> {
    const at = this.#at(topic, partition)
    if (this.#producer === undefined) return Promise.reject(readingOnly())
    const record = key === undefined ? { partition, value } : { partition, value, key }
    return this.#producer.append(at.topic, record, receivedAtMs)
  }

  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]> {
    for (const { partition } of records) this.#at(topic, partition)
    if (this.#producer === undefined) return Promise.reject(readingOnly())
    return this.#producer.appendAll(this.#nameOf(topic), records, receivedAtMs)
  }

  head(topic: string, partition: number): Promise<number> {
    return this.#ends.head(this.#at(topic, partition))
  }

  lastKnownHead(topic: string, partition: number): number | undefined {
    return this.#ends.lastKnownHead(this.#at(topic, partition))
  }

  oldest(topic: string, partition: number): Promise<number> {
    return this.#ends.oldest(this.#at(topic, partition))
  }

  async read(
    topic: string,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]> {
    return this.#reader.read(this.#at(topic, partition), fromOffset, limits)
  }

  waitForAppend(topic: string, timeoutMs: number): Promise<void> {
    let watch = this.#watches.get(topic)
    if (watch === undefined) {
      this.#refuseIfClosed()
      watch = new AppendWatch(this.#newCluster([topic]), this.#cache, this.#decompressedBytesMax)
      this.#watches.set(topic, watch)
    }
    return watch.wait(timeoutMs)
  }

  async join(
    group: string,
    topics: readonly string[],
    member: GroupMember,
  ): Promise<GroupMembership> {
    this.#refuseIfClosed()
    if (this.#memberships.has(group)) throw new Error(`This process is in group ${group} already.`)
    const { groupTimeouts: timeouts, answerWithinMs, logger } = this.#options
    const counts = topics.map((topic) => [this.#nameOf(topic), this.partitionCount(topic)] as const)
    const own = (name: string): string => name.slice(this.#options.namePrefix.length)
    const membership = new KafkaGroupMembership({
      cluster: this.#newCluster(topics),
      group: this.#groupIdOf(group),
      topics: Object.fromEntries(counts),
      member: {
        assigned: (name, partition) => member.assigned(own(name), partition),
        revoked: (name, partition) => member.revoked(own(name), partition),
      },
      timeouts,
      answerWithinMs,
      logger,
      onLeft: () => this.#memberships.delete(group),
    })
    this.#memberships.set(group, membership)
    return membership
  }

  position(group: string, topic: string, partition: number): Promise<GroupPosition> {
    const at = this.#at(topic, partition)
    // A coordinator may answer with an older position, so the owner of the partition knows it better.
    const own = this.#memberships.get(group)?.position(at)
    return own ?? this.#positions.read(this.#groupIdOf(group), at)
  }

  async commit(
    group: string,
    topic: string,
    partition: number,
    expected: GroupPosition,
    next: GroupPosition,
  ): Promise<void> {
    const membership = this.#memberships.get(group)
    if (membership === undefined) {
      throw new GroupFencedError(`This process is not in group ${group}.`)
    }
    await membership.commit(this.#at(topic, partition), expected, next)
  }

  async trim(
    topic: string,
    partition: number,
    receivedBeforeMs: number,
    groups: readonly string[],
  ): Promise<void> {
    // No record is older than that, and Kafka gives negative times other meanings.
    if (receivedBeforeMs <= 0) return
    const at = this.#at(topic, partition)
    const positions = await Promise.all(
      groups.map((group) => this.#positions.read(this.#groupIdOf(group), at)),
    )
    const firstYoung = await this.#ends.firstSince(
      at,
      Math.min(Math.floor(receivedBeforeMs), Number.MAX_SAFE_INTEGER),
    )
    const offset = Math.min(firstYoung, ...positions.map((position) => position.offset))
    if (offset <= (await this.#ends.oldest(at))) return
    const { answerWithinMs } = this.#options
    const request = deleteRecordsRequest([{ ...at, offset }], answerWithinMs)
    const result = await requestFromLeader(this.#cluster, at, answerWithinMs, async (leader) => {
      const [only] = await this.#cluster.send(leader, request)
      return only!
    })
    if (result.errorCode === errorCode.none) return
    throw new Error(`Kafka does not delete records: ${describeCode(result.errorCode)}`)
  }

  async checkWritable(): Promise<void> {
    const { writer, answerWithinMs } = this.#options
    if (writer === undefined || this.#producer === undefined) throw readingOnly()
    const refusal = this.#producer.refusal(1)
    if (refusal !== undefined) throw refusal
    await retryUntilAnswered(answerWithinMs, () => this.#cluster.refresh())
    for (const { topic, partition, leader, inSyncCount } of this.#cluster.states) {
      if (leader >= 0 && inSyncCount >= writer.minInSyncReplicas) continue
      throw new EventLogUnavailableError(
        `${topic}/${partition} has ${leader < 0 ? 'no leader' : `${inSyncCount} replicas in sync`}.`,
      )
    }
  }

  async checkPartitions(): Promise<void> {
    await retryUntilAnswered(this.#options.answerWithinMs, () => this.#cluster.refresh())
    const found = this.#countPartitions()
    for (const [topic, used] of this.#partitionCounts) {
      const count = found.get(topic) ?? 0
      if (count !== used) throw new PlacedPartitionsError(topic, used, count)
    }
  }

  async checkPositionsKept(minutes: number): Promise<void> {
    await retryUntilAnswered(this.#options.answerWithinMs, () => this.#cluster.refresh())
    await checkPositionsKept(await this.#cluster.allBrokers(), minutes)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await Promise.all([...this.#memberships.values()].map((membership) => membership.leave()))
    await this.#producer?.close()
    for (const watch of this.#watches.values()) watch.close()
    this.#cluster.close()
  }

  async #learnTopics(): Promise<void> {
    const { topics, writer } = this.#options
    await this.#cluster.refresh()
    this.#partitionCounts = this.#countPartitions()
    const missing = topics.filter((topic) => !this.#partitionCounts.has(topic))
    if (missing.length === 0) return
    if (writer !== undefined) {
      const counts = missing.map(
        (topic) => [this.#nameOf(topic), writer.partitionCounts[topic]!] as const,
      )
      await createTopics(this.#cluster, Object.fromEntries(counts), writer)
    }
    throw new Error(`there is no topic ${missing.join(', ')} yet`)
  }

  /** Returns the number of partitions of each topic, as of the last refresh. */
  #countPartitions(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { topic, partition } of this.#cluster.states) {
      const own = topic.slice(this.#options.namePrefix.length)
      counts.set(own, Math.max(counts.get(own) ?? 0, partition + 1))
    }
    return counts
  }

  async #compareWithNotes(): Promise<void> {
    const { notes, ignoresAddedPartitions: ignoresAdded = false } = this.#options
    if (notes === undefined) return
    // A reader may have read the notes before the first writer created the topics.
    if (this.#unnotedTopics(notes).length > 0) await notes.refresh()
    this.#partitionCounts = usedPartitions(this.#countPartitions(), notes, ignoresAdded)
  }

  /**
   * Records the number of partitions before this process appends its first record. Another process may have recorded a different
   * number at the same time, so the result is compared.
   */
  async #notePartitions(): Promise<void> {
    const { notes } = this.#options
    if (notes === undefined) return
    const unnoted = this.#unnotedTopics(notes)
    if (unnoted.length === 0) return
    await notes.add(
      unnoted.map((topic) => ({ kind: 'partitions', topic, count: this.partitionCount(topic) })),
    )
    await this.#compareWithNotes()
  }

  #unnotedTopics(notes: LogNotes): string[] {
    return this.#options.topics.filter((topic) => notes.partitionsOf(topic) === undefined)
  }

  #newCluster(topics: readonly string[]): KafkaCluster {
    return new KafkaCluster(
      this.#options.connection,
      topics.map((topic) => this.#nameOf(topic)),
    )
  }

  /** Returns the partition with the brokers' name of the topic. Throws a RangeError if it does not exist. */
  #at(topic: string, partition: number): TopicPartition {
    if (partition >= 0 && partition < this.partitionCount(topic)) {
      return { topic: this.#nameOf(topic), partition }
    }
    throw new RangeError(`There is no ${topic} partition ${partition}.`)
  }

  #nameOf(topic: string): string {
    return this.#options.namePrefix + topic
  }

  #groupIdOf(group: string): string {
    return `${this.#options.namePrefix}tollgate.${group}`
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new EventLogUnavailableError('The event log is closed.')
  }
}

function readingOnly(): EventLogUnavailableError {
  return new EventLogUnavailableError('This process opened the event log for reading only.')
}
