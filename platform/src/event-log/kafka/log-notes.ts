import type { Logger } from '../../observability/logger.ts'
import { EventLogUnavailableError } from '../event-log.ts'
import { retryUntilAnswered } from './request-from-leader.ts'
import { createTopics, type TopicPlan } from './create-topics.ts'
import { KafkaCluster } from './kafka-cluster.ts'
import type { KafkaConnection } from './kafka-node.ts'
import { LogEnds } from './log-ends.ts'
import { parseLogNote, type LogNote } from './log-note.ts'
import { Producer } from './producer.ts'
import { RecordCache } from './record-cache.ts'
import { RecordReader } from './record-reader.ts'
import { loadZstd } from './wire/zstd.ts'

export type LogNotesOptions = {
  readonly connection: KafkaConnection
  readonly namePrefix: string
  /** Settings for creating the topic if it is missing. Without them, this process only reads. */
  readonly writer?: Omit<TopicPlan, 'partitionCounts'> | undefined
  readonly answerWithinMs: number
  readonly logger: Logger
}

const mebibyte = 2 ** 20

/**
 * Stored facts that readers of the log need: the number of partitions that its records were placed on, and the schemas behind the
 * schema ids. They are in a separate topic in the same Kafka cluster, so every process that can read the records can read them, and
 * both are only lost together. Notes are never changed: if two contradict each other, the earlier one is right, because records
 * were written by it.
 */
export class LogNotes {
  readonly #options: LogNotesOptions
  readonly #topic: string
  #notes: readonly LogNote[] = []

  private constructor(options: LogNotesOptions) {
    this.#options = options
    this.#topic = `${options.namePrefix}tollgate.log-notes`
  }

  /** Reads all notes. If the topic is missing, an older release has written the log and there are no notes. */
  static async open(options: LogNotesOptions): Promise<LogNotes> {
    const notes = new LogNotes(options)
    await loadZstd()
    await notes.refresh()
    return notes
  }

  /** Returns the recorded number of partitions, or undefined. */
  partitionsOf(topic: string): number | undefined {
    for (const note of this.#notes) {
      if (note.kind === 'partitions' && note.topic === topic) return note.count
    }
    return undefined
  }

  /** Returns the recorded schemas of the subject by id, sorted by id. */
  schemasOf(subject: string): ReadonlyMap<number, string> {
    const schemas = new Map<number, string>()
    for (const note of this.#notes) {
      if (note.kind !== 'schema' || note.subject !== subject || schemas.has(note.id)) continue
      schemas.set(note.id, note.schema)
    }
    return new Map([...schemas].sort(([one], [other]) => one - other))
  }

  async refresh(): Promise<void> {
    await this.#onCluster(async (cluster) => {
      this.#notes = await this.#read(cluster)
    })
  }

  /** Adds notes. They are durable when this resolves, and notes that other processes added in the meantime are loaded. */
  async add(notes: readonly LogNote[]): Promise<void> {
    const { writer, answerWithinMs } = this.#options
    if (writer === undefined) throw new Error('This process reads the notes of the log only.')
    await this.#onCluster(async (cluster) => {
      await retryUntilAnswered(answerWithinMs, () => this.#ensureTopic(cluster, writer))
      const producer = new Producer(cluster, () => undefined, {
        pendingBytesMax: mebibyte,
        batchBytesMax: mebibyte / 2,
        deliveryTimeoutMs: answerWithinMs,
        requestsInFlightMax: 1,
      })
      const records = notes.map((note) => ({
        partition: 0,
        value: Buffer.from(JSON.stringify(note), 'utf8'),
      }))
      try {
        await producer.appendAll(this.#topic, records, Date.now())
      } finally {
        await producer.close()
      }
    })
    await this.refresh()
  }

  /** Notes are read when a process starts and rarely after that, so no connection is kept open for them. */
  async #onCluster(work: (cluster: KafkaCluster) => Promise<void>): Promise<void> {
    const { connection, answerWithinMs } = this.#options
    const cluster = new KafkaCluster(connection, [this.#topic])
    try {
      await retryUntilAnswered(answerWithinMs, () => cluster.refresh())
      await work(cluster)
    } finally {
      cluster.close()
    }
  }

  async #ensureTopic(
    cluster: KafkaCluster,
    plan: Omit<TopicPlan, 'partitionCounts'>,
  ): Promise<void> {
    await cluster.refresh()
    if (cluster.state({ topic: this.#topic, partition: 0 }) !== undefined) return
    await createTopics(cluster, { [this.#topic]: 1 }, plan)
    throw new Error(`there is no topic ${this.#topic} yet`)
  }

  async #read(cluster: KafkaCluster): Promise<LogNote[]> {
    const { answerWithinMs, logger } = this.#options
    const at = { topic: this.#topic, partition: 0 }
    if (cluster.state(at) === undefined) {
      if (this.#notes.length === 0) return []
      throw new EventLogUnavailableError(`The topic ${this.#topic} is gone.`)
    }
    const ends = new LogEnds({ cluster, answerWithinMs, logger })
    const cache = new RecordCache(mebibyte)
    const reader = new RecordReader({
      cluster,
      ends,
      cache,
      answerWithinMs,
      decompressedBytesMax: mebibyte,
    })
    const head = await ends.head(at)
    const notes: LogNote[] = []
    for (let offset = 0; offset < head;) {
      const records = await reader.read(at, offset, { recordsMax: 1_000, bytesMax: mebibyte })
      for (const { value } of records) {
        const note = parseLogNote(value)
        if (note !== undefined) notes.push(note)
      }
      const last = records.at(-1)
      if (last === undefined) {
        throw new EventLogUnavailableError(`The topic ${this.#topic} ends too early.`)
      }
      offset = last.offset + 1
    }
    return notes
  }
}
