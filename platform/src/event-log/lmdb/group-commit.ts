import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import { committed } from '../../lmdb/commit-error.ts'
import type { LmdbStore } from '../../lmdb/environment.ts'
import { BatchBuffer, recordBytes } from './batch-format.ts'
import { batchKeyBytes, probeKey, writeBatchKey } from './log-keys.ts'

export type GroupCommitLimits = {
  /** Bytes that may wait for the disk, those of the commit in flight included. */
  readonly pendingBytesMax: number
  /** Bytes of one stored batch. */
  readonly batchBytesMax: number
}

/** One partition as the writer sees it. */
export class PartitionWriter {
  /** The offset after the last durable record. */
  head: number
  readonly topicId: number
  readonly partition: number
  open: OpenBatch | undefined
  readonly spares: BatchBuffer[] = []

  constructor(topicId: number, partition: number, head: number) {
    this.topicId = topicId
    this.partition = partition
    this.head = head
  }
}

/** The records of one partition that go into the same commit. */
type OpenBatch = {
  readonly writer: PartitionWriter
  /** Offset of the first record; known when the commit starts, because a failed commit consumes no offsets. */
  base: number
  count: number
  readonly buffers: BatchBuffer[]
}

type Waiter = {
  readonly committed: () => void
  readonly failed: (error: Error) => void
}

const bufferBytesAtStart = 8 * 1024
const sparesMax = 2
/** As much as a busy commit takes, so that the last free page does not pass for room. */
const probeBytes = 128 * 1024

/**
 * Collects records while one transaction is on its way to the disk, then commits all of them in the next one. So a
 * commit carries what arrived during the one before it, and nothing waits for a timer.
 */
export class GroupCommit {
  readonly #store: LmdbStore
  readonly #limits: GroupCommitLimits
  readonly #onCommitted: (topicIds: ReadonlySet<number>) => void
  readonly #key = Buffer.allocUnsafe(batchKeyBytes)
  #batches: OpenBatch[] = []
  #waiters: Waiter[] = []
  #pendingBytes = 0
  #isFlushing = false
  #isScheduled = false
  #isClosed = false
  /** The last commit failed. */
  #hasFailed = false
  #idle: (() => void) | undefined

  /** `onCommitted` is called when the records are on disk and the heads have moved, before those who appended hear of it. */
  constructor(
    store: LmdbStore,
    limits: GroupCommitLimits,
    onCommitted: (topicIds: ReadonlySet<number>) => void,
  ) {
    this.#store = store
    this.#limits = limits
    this.#onCommitted = onCommitted
  }

  append(writer: PartitionWriter, value: Uint8Array, receivedAtMs: number): Promise<number> {
    const refusal = this.#refusal(recordBytes(value))
    if (refusal !== undefined) return Promise.reject(refusal)
    const batch = this.#add(writer, value, receivedAtMs)
    const index = batch.count - 1
    return new Promise((resolve, reject) => {
      this.#waiters.push({ committed: () => resolve(batch.base + index), failed: reject })
    })
  }

  appendAll(
    writers: readonly PartitionWriter[],
    records: readonly LogAppend[],
    receivedAtMs: number,
  ): Promise<number[]> {
    if (records.length === 0) return Promise.resolve([])
    const refusal = this.#refusal(records.reduce((sum, { value }) => sum + recordBytes(value), 0))
    if (refusal !== undefined) return Promise.reject(refusal)
    const places = records.map(({ partition, value }) => {
      const batch = this.#add(writers[partition]!, value, receivedAtMs)
      return { batch, index: batch.count - 1 }
    })
    return new Promise((resolve, reject) => {
      const committed = () => resolve(places.map(({ batch, index }) => batch.base + index))
      this.#waiters.push({ committed, failed: reject })
    })
  }

  /** Throws what an append would be refused with now. After a failed commit only a commit can tell. */
  async checkWritable(): Promise<void> {
    const refusal = this.#refusal(1)
    if (refusal !== undefined) throw refusal
    if (!this.#hasFailed) return
    try {
      await committed(this.#store.put(probeKey, Buffer.alloc(probeBytes)))
      this.#hasFailed = false
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  #refusal(bytes: number): EventLogUnavailableError | undefined {
    if (this.#isClosed) return new EventLogUnavailableError('The event log is closed.')
    if (this.#pendingBytes + bytes > this.#limits.pendingBytesMax) {
      return new EventLogUnavailableError('Too many bytes wait for the disk.')
    }
    return undefined
  }

  /** Takes no more records and resolves when those taken are committed or refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (!this.#isFlushing && this.#waiters.length === 0) return
    await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  #add(writer: PartitionWriter, value: Uint8Array, receivedAtMs: number): OpenBatch {
    const bytes = recordBytes(value)
    let batch = writer.open
    if (batch === undefined) {
      batch = { writer, base: -1, count: 0, buffers: [takeBuffer(writer)] }
      writer.open = batch
      this.#batches.push(batch)
    }
    let buffer = batch.buffers.at(-1)!
    if (buffer.count > 0 && buffer.bytes + bytes > this.#limits.batchBytesMax) {
      buffer = takeBuffer(writer)
      batch.buffers.push(buffer)
    }
    buffer.add(value, receivedAtMs)
    batch.count += 1
    this.#pendingBytes += bytes
    this.#schedule()
    return batch
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isFlushing) return
    this.#isScheduled = true
    // The end of this turn: every request the turn brings joins the same commit.
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const batches = this.#batches
    const waiters = this.#waiters
    const bytes = this.#pendingBytes
    this.#batches = []
    this.#waiters = []
    this.#isFlushing = true
    for (const batch of batches) {
      batch.writer.open = undefined
      batch.base = batch.writer.head
    }
    const done = (error: Error | undefined) => {
      this.#pendingBytes -= bytes
      this.#finish(batches, waiters, error)
    }
    committed(this.#commit(batches)).then(
      () => done(undefined),
      (error: unknown) => done(asUnavailable(error)),
    )
  }

  #commit(batches: readonly OpenBatch[]): Promise<unknown> {
    return this.#store.batch(() => {
      for (const { writer, base, buffers } of batches) {
        let next = base
        for (const buffer of buffers) {
          next += buffer.count
          writeBatchKey(this.#key, writer.topicId, writer.partition, next - 1)
          void this.#store.put(this.#key, buffer.finish())
        }
      }
    })
  }

  #finish(
    batches: readonly OpenBatch[],
    waiters: readonly Waiter[],
    error: Error | undefined,
  ): void {
    if (error === undefined) {
      for (const batch of batches) batch.writer.head = batch.base + batch.count
    }
    for (const batch of batches) giveBuffersBack(batch, this.#limits.batchBytesMax)
    this.#isFlushing = false
    this.#hasFailed = error !== undefined
    // The next commit starts before the waiters run, so the disk does not idle while answers are written.
    if (this.#waiters.length > 0) this.#flush()
    if (error === undefined) {
      this.#onCommitted(new Set(batches.map((batch) => batch.writer.topicId)))
      for (const waiter of waiters) waiter.committed()
    } else {
      for (const waiter of waiters) waiter.failed(error)
    }
    if (!this.#isFlushing && this.#waiters.length === 0) this.#idle?.()
  }
}

function takeBuffer(writer: PartitionWriter): BatchBuffer {
  return writer.spares.pop() ?? new BatchBuffer(bufferBytesAtStart)
}

function giveBuffersBack(batch: OpenBatch, bytesMax: number): void {
  for (const buffer of batch.buffers) {
    if (batch.writer.spares.length >= sparesMax || buffer.capacity > bytesMax * 2) continue
    buffer.clear()
    batch.writer.spares.push(buffer)
  }
}

function asUnavailable(error: unknown): EventLogUnavailableError {
  const { message } = error as Error
  return new EventLogUnavailableError(`The event log cannot write. ${message}`, { cause: error })
}
