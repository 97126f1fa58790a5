import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommitListener } from '../../lmdb/commit-notifier.ts'
import { DataFolderError, openEnvironment } from '../../lmdb/environment.ts'
import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { claimedPath } from '../../lmdb/writer-claim.ts'
import {
  EventLogUnavailableError,
  type EventLog,
  type GroupMember,
  type GroupMembership,
  type GroupPosition,
  type LogAppend,
  type LogRecord,
  type ReadLimits,
} from '../event-log.ts'
import { DurableStateReader } from './durable-state.ts'
import { GroupPositions } from './group-positions.ts'
import { LogReader } from './log-reader.ts'
import { SoleMember } from './sole-member.ts'
import { LogWriter } from './log-writer.ts'
import { syncFolder } from './new-segment.ts'
import { listSegments, readSegmentHeader, refuseOlderFormat } from './segment-files.ts'
import { streamOf, type Topic, type TopicCatalogue } from './topic-catalogue.ts'

export type FileEventLogOptions = {
  /** Folder of the segment files. One process writes it, any number of processes read it. */
  readonly logFolder: string
  /** Folder of the positions of consumer groups, which every consumer writes, and of the claim of the writer. */
  readonly groupsFolder: string
  /** A second writer is refused while the first one is running. */
  readonly role: 'writer' | 'reader'
  /**
   * Number of partitions by topic. The writer creates missing topics. It refuses a number that differs from the stored one, because
   * the records of a subject must stay in one partition. Readers use the stored numbers.
   */
  readonly topics: Readonly<Record<string, number>>
  /** Maximum bytes that wait for the disk before appends are refused. Default: 64 MiB. */
  readonly pendingBytesMax?: number
  /** Maximum bytes of a segment file. Segments are deleted as a whole. Default: 64 MiB; the first segments are smaller. */
  readonly segmentBytesMax?: number
  /** Milliseconds that a reader waits for the writer to create the log. Default: 30,000. */
  readonly createdWithinMs?: number
}

const mebibyte = 2 ** 20

export async function openFileEventLog(options: FileEventLogOptions): Promise<EventLog> {
  const groups = await openEnvironment({
    folder: options.groupsFolder,
    content: 'record of consumer positions',
    formatVersion: 1,
    access: 'write',
    createdWithinMs: options.createdWithinMs ?? createdWithinMs,
  })
  try {
    refuseOlderFormat(options.logFolder)
    return options.role === 'writer'
      ? await openForWriting(options, groups)
      : await openForReading(options, groups)
  } catch (error) {
    await groups.close()
    throw error
  }
}

async function openForWriting(options: FileEventLogOptions, groups: LmdbStore): Promise<EventLog> {
  const folder = options.logFolder
  const created = mkdirSync(folder, { recursive: true })
  if (created !== undefined) await syncFolder(dirname(created))
  const writerOptions = {
    folder,
    topics: options.topics,
    pendingBytesMax: options.pendingBytesMax ?? 64 * mebibyte,
    segmentBytesMax: options.segmentBytesMax ?? 64 * mebibyte,
  }
  const { writer, segment } = await LogWriter.open(writerOptions, groups)
  const reader = new LogReader(folder, () => writer.durable)
  if (segment !== undefined) reader.adopt(segment)
  return new FileEventLog(groups, reader, { writer })
}

async function openForReading(options: FileEventLogOptions, groups: LmdbStore): Promise<EventLog> {
  const folder = options.logFolder
  const deadline = Date.now() + (options.createdWithinMs ?? createdWithinMs)
  for (;;) {
    const durable = tryOpenDurable(folder)
    if (durable !== undefined) {
      const reader = new LogReader(folder, () => durable.read())
      return new FileEventLog(groups, reader, { durable })
    }
    if (Date.now() >= deadline) throw new DataFolderError(`There is no event log in ${folder}.`)
    await sleep(25)
  }
}

function tryOpenDurable(folder: string): DurableStateReader | undefined {
  const newest = existsSync(folder) ? listSegments(folder).at(-1) : undefined
  if (newest === undefined) return undefined
  // Throws if the format is not supported by this release.
  readSegmentHeader(folder, newest)
  return DurableStateReader.tryOpen(folder)
}

class FileEventLog implements EventLog {
  readonly #groupsStore: LmdbStore
  readonly #groups: GroupPositions
  readonly #reader: LogReader
  readonly #writer: LogWriter | undefined
  readonly #durable: DurableStateReader | undefined
  readonly #listener: CommitListener
  #topics: TopicCatalogue

  constructor(
    groupsStore: LmdbStore,
    reader: LogReader,
    opened: { readonly writer: LogWriter } | { readonly durable: DurableStateReader },
  ) {
    this.#groupsStore = groupsStore
    this.#groups = new GroupPositions(groupsStore)
    this.#reader = reader
    this.#writer = 'writer' in opened ? opened.writer : undefined
    this.#durable = 'durable' in opened ? opened.durable : undefined
    this.#topics = this.#writer?.topics ?? reader.topics()
    this.#listener = new CommitListener(() => claimedPath(groupsStore))
  }

  partitionCount(topic: string): number {
    return this.#topic(topic).partitionCount
  }

  append(topic: string, partition: number, value: Uint8Array, receivedAtMs: number): Promise<void> {
    if (this.#writer === undefined) return Promise.reject(readingOnly())
    return this.#writer.append(this.#stream(topic, partition), value, receivedAtMs)
  }

  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]> {
    if (this.#writer === undefined) return Promise.reject(readingOnly())
    const found = this.#topic(topic)
    const streams = records.map(({ partition }) => streamOf(found, partition))
    return this.#writer.appendAll(streams, records, receivedAtMs)
  }

  head(topic: string, partition: number): number {
    return this.#reader.head(this.#stream(topic, partition))
  }

  lastKnownHead(topic: string, partition: number): number {
    return this.head(topic, partition)
  }

  oldest(topic: string, partition: number): number {
    return this.#reader.oldest(this.#stream(topic, partition))
  }

  async read(
    topic: string,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]> {
    return this.#reader.read(this.#stream(topic, partition), fromOffset, limits)
  }

  waitForAppend(topic: string, timeoutMs: number): Promise<void> {
    const { id } = this.#topic(topic)
    if (this.#writer !== undefined) return this.#writer.waitForAppend(id, timeoutMs)
    return this.#listener.wait(id, timeoutMs)
  }

  async join(
    _group: string,
    topics: readonly string[],
    member: GroupMember,
  ): Promise<GroupMembership> {
    const partitions = topics.flatMap((topic) =>
      Array.from({ length: this.partitionCount(topic) }, (_, partition) => ({ topic, partition })),
    )
    return new SoleMember(member, partitions)
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
    if (this.#writer === undefined) throw readingOnly()
    const positions = groups.map((group) => this.#groups.read(group, topic, partition).offset)
    const stream = this.#stream(topic, partition)
    await this.#writer.trim(this.#reader, stream, receivedBeforeMs, Math.min(...positions))
  }

  async checkWritable(): Promise<void> {
    if (this.#writer === undefined) throw readingOnly()
    await this.#writer.checkWritable()
  }

  /** Always resolves: the number of partitions is stored when a topic is created, and opening with another number fails. */
  checkPartitions(): Promise<void> {
    return Promise.resolve()
  }

  /** Always resolves: positions are kept forever. */
  checkPositionsKept(): Promise<void> {
    return Promise.resolve()
  }

  async close(): Promise<void> {
    this.#listener.close()
    await this.#writer?.close()
    this.#reader.close()
    this.#durable?.close()
    await this.#groupsStore.close()
  }

  #topic(name: string): Topic {
    let topic = this.#topics.find(name)
    if (topic === undefined) {
      // A reader may have opened the log before the writer added the topic.
      this.#topics = this.#writer?.topics ?? this.#reader.topics()
      topic = this.#topics.find(name)
    }
    if (topic === undefined) throw new RangeError(`The event log has no topic ${name}.`)
    return topic
  }

  #stream(topic: string, partition: number): number {
    return streamOf(this.#topic(topic), partition)
  }
}

function readingOnly(): EventLogUnavailableError {
  return new EventLogUnavailableError('This process opened the event log for reading only.')
}

const createdWithinMs = 30_000
