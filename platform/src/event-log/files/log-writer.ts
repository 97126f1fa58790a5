import { rmSync } from 'node:fs'
import { CommitNotifier } from '../../lmdb/commit-notifier.ts'
import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { WakeUps } from '../../waiting/wake-ups.ts'
import { claimWriter, releaseClaim } from '../../lmdb/writer-claim.ts'
import type { LogAppend } from '../event-log.ts'
import { DurableStateWriter, type DurableState } from './durable-state.ts'
import { GroupCommit } from './group-commit.ts'
import type { LogReader } from './log-reader.ts'
import type { LogTail } from './log-tail.ts'
import { syncFolder } from './new-segment.ts'
import { PacedNotifier } from './paced-notifier.ts'
import { recoverLog } from './recover.ts'
import { segmentPath } from './segment-files.ts'
import type { Segment } from './segment.ts'
import type { Topic, TopicCatalogue } from './topic-catalogue.ts'

export type LogWriterOptions = {
  readonly folder: string
  readonly topics: Readonly<Record<string, number>>
  readonly pendingBytesMax: number
  readonly segmentBytesMax: number
}

/** The writer of the log. Only one process may have it open. */
export class LogWriter {
  readonly #folder: string
  readonly #claims: LmdbStore
  readonly #notifier: CommitNotifier
  readonly #tail: LogTail
  readonly #published: DurableStateWriter
  readonly #groupCommit: GroupCommit
  readonly #topics: readonly Topic[]
  readonly #wakeUps: readonly WakeUps[]
  readonly #notifiers: readonly PacedNotifier[]
  /** Streams that no longer need a segment, by segment number. */
  readonly #released = new Map<number, Set<number>>()

  private constructor(
    options: LogWriterOptions,
    claims: LmdbStore,
    notifier: CommitNotifier,
    tail: LogTail,
  ) {
    this.#folder = options.folder
    this.#claims = claims
    this.#notifier = notifier
    this.#tail = tail
    this.#topics = tail.topics.entries.map(({ name }) => tail.topics.find(name)!)
    this.#wakeUps = this.#topics.map(() => new WakeUps())
    this.#notifiers = this.#topics.map(
      ({ id }) => new PacedNotifier(() => notifier.notify(id), notifyIntervalMs),
    )
    this.#published = new DurableStateWriter(options.folder)
    this.#published.publish(tail.durable)
    this.#groupCommit = new GroupCommit(tail, options.pendingBytesMax, (counts) =>
      this.#announce(counts),
    )
  }

  /**
   * Opens the log for writing. Throws an AnotherWriterError if another process writes it. The claim is stored with the positions,
   * because that store has transactions. The state of the log is read after the claim, so it cannot change.
   */
  static async open(
    options: LogWriterOptions,
    claims: LmdbStore,
  ): Promise<{ writer: LogWriter; segment: Segment | undefined }> {
    const { folder, topics, segmentBytesMax } = options
    const notifier = await CommitNotifier.open(folder)
    try {
      await claimWriter(claims, notifier, folder)
      const { tail, segment } = await recoverLog(folder, topics, segmentBytesMax)
      return { writer: new LogWriter(options, claims, notifier, tail), segment }
    } catch (error) {
      await releaseClaim(claims, notifier)
      await notifier.close()
      throw error
    }
  }

  get durable(): DurableState {
    return this.#tail.durable
  }

  get topics(): TopicCatalogue {
    return this.#tail.topics
  }

  append(stream: number, value: Uint8Array, receivedAtMs: number): Promise<void> {
    return this.#groupCommit.append(stream, value, receivedAtMs)
  }

  appendAll(
    streams: readonly number[],
    records: readonly LogAppend[],
    receivedAtMs: number,
  ): Promise<number[]> {
    return this.#groupCommit.appendAll(streams, records, receivedAtMs)
  }

  waitForAppend(topicId: number, timeoutMs: number): Promise<void> {
    return this.#wakeUps[topicId]!.wait(timeoutMs)
  }

  /**
   * Records which segments the stream no longer needs: those whose records are all older than `receivedBeforeMs` and whose records
   * of the stream are all below `belowOffset`. Deletes the oldest segments that no stream needs. The last call counts. The
   * information is not stored: after a restart, every stream must call again.
   */
  async trim(
    reader: LogReader,
    stream: number,
    receivedBeforeMs: number,
    belowOffset: number,
  ): Promise<void> {
    const { durable } = this.#tail
    for (let number = durable.oldestSegment; number < durable.segment; number += 1) {
      const next = reader.header(number + 1)
      const isNeeded =
        next.previousNewestMs >= receivedBeforeMs || (next.heads[stream] ?? 0) > belowOffset
      if (isNeeded) {
        this.#withdraw(stream, number)
        break
      }
      const released = this.#released.get(number) ?? new Set()
      this.#released.set(number, released.add(stream))
    }
    while (durable.oldestSegment < durable.segment && this.#isReleased(reader)) {
      await this.#deleteOldest()
    }
  }

  checkWritable(): Promise<void> {
    return this.#groupCommit.checkWritable()
  }

  async close(): Promise<void> {
    await this.#groupCommit.close()
    await this.#tail.close()
    this.#published.close()
    await releaseClaim(this.#claims, this.#notifier)
    for (const each of this.#notifiers) each.stop()
    await this.#notifier.close()
    for (const wakeUps of this.#wakeUps) wakeUps.wake()
  }

  /** Withdraws the release of segments. A stream needs them again if its consumer has lost its data. */
  #withdraw(stream: number, fromSegment: number): void {
    for (const [number, released] of this.#released) {
      if (number >= fromSegment) released.delete(stream)
    }
  }

  /** Returns whether every stream with records in the oldest segment has released it. */
  #isReleased(reader: LogReader): boolean {
    const { oldestSegment } = this.#tail.durable
    const { heads } = reader.header(oldestSegment)
    const next = reader.header(oldestSegment + 1)
    const released = this.#released.get(oldestSegment)
    if (released === undefined) return false
    return next.heads.every((head, stream) => head === (heads[stream] ?? 0) || released.has(stream))
  }

  /**
   * Deletes the oldest segment. The new start of the log is published before the file is deleted. The folder is synced for each
   * file, so that after a power failure no file reappears whose successor is gone.
   */
  async #deleteOldest(): Promise<void> {
    const number = this.#tail.dropOldest()
    this.#released.delete(number)
    this.#published.publish(this.#tail.durable)
    rmSync(segmentPath(this.#folder, number), { force: true })
    await syncFolder(this.#folder)
  }

  /** Publishes the commit, then wakes waiting readers. */
  #announce(counts: readonly number[]): void {
    this.#published.publish(this.#tail.durable)
    for (const { id, firstStream, partitionCount } of this.#topics) {
      let isTouched = false
      for (let at = firstStream; at < firstStream + partitionCount; at += 1) {
        isTouched ||= counts[at]! > 0
      }
      if (!isTouched) continue
      this.#notifiers[id]!.request()
      this.#wakeUps[id]!.wake()
    }
  }
}

/**
 * Minimum interval between notifications. A notification costs this process and each reader more than a commit does, and a fast
 * disk makes thousands of commits per second.
 */
const notifyIntervalMs = 1
