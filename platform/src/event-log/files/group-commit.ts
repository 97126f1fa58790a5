import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import { CommitBuffer, commitHeaderBytes, recordHeaderBytes } from './commit-format.ts'
import type { LogTail } from './log-tail.ts'

/** Callbacks for when a commit is durable or has failed. */
type Waiter = {
  readonly committed: () => void
  readonly failed: (error: Error) => void
}

/** The records that are written to disk together. */
type OpenCommit = {
  readonly buffer: CommitBuffer
  /** The promise that all single appends of this commit share. */
  durable: Promise<void> | undefined
  readonly waiters: Waiter[]
}

/**
 * Group commit: collects records while one commit is being written, then writes all of them in the next one. A commit contains what
 * arrived during the previous one, and no timer delays it.
 */
export class GroupCommit {
  readonly #tail: LogTail
  readonly #pendingBytesMax: number
  readonly #onCommitted: (counts: readonly number[]) => void
  /** One buffer is filled while another one is being written. */
  readonly #spares: CommitBuffer[] = []
  #open: OpenCommit | undefined
  #pendingBytes = 0
  /** True while a commit or a probe is being written. */
  #isWriting = false
  #isScheduled = false
  #isClosed = false
  /** Error of the last write; undefined if it succeeded. */
  #failure: EventLogUnavailableError | undefined
  /** Callbacks for the end of the current write, successful or not. */
  #afterWrite: (() => void)[] = []

  /**
   * `pendingBytesMax` limits the bytes that wait for the disk, including the commit being written. `onCommitted` is called with the
   * record counts by stream when the records are durable, before their appends resolve. If it throws, the appends are refused: the
   * records stay in the log, but no other process sees them before the next successful call.
   */
  constructor(
    tail: LogTail,
    pendingBytesMax: number,
    onCommitted: (counts: readonly number[]) => void,
  ) {
    this.#tail = tail
    this.#pendingBytesMax = pendingBytesMax
    this.#onCommitted = onCommitted
  }

  append(stream: number, value: Uint8Array, receivedAtMs: number): Promise<void> {
    const refusal = this.#refusal(recordHeaderBytes + value.length)
    if (refusal !== undefined) return Promise.reject(refusal)
    const commit = this.#add(stream, value, receivedAtMs)
    commit.durable ??= new Promise((committed, failed) =>
      commit.waiters.push({ committed, failed }),
    )
    return commit.durable
  }

  appendAll(
    streams: readonly number[],
    records: readonly LogAppend[],
    receivedAtMs: number,
  ): Promise<number[]> {
    if (records.length === 0) return Promise.resolve([])
    const bytes = records.reduce((sum, { value }) => sum + recordHeaderBytes + value.length, 0)
    const refusal = this.#refusal(bytes)
    if (refusal !== undefined) return Promise.reject(refusal)
    const places = records.map(({ value }, at) => {
      const stream = streams[at]!
      const { counts } = this.#add(stream, value, receivedAtMs).buffer
      return { stream, index: counts[stream]! - 1 }
    })
    const { buffer, waiters } = this.#open!
    return new Promise((resolve, failed) => {
      const committed = () => {
        const { heads } = this.#tail.durable
        resolve(places.map(({ stream, index }) => heads[stream]! - buffer.counts[stream]! + index))
      }
      waiters.push({ committed, failed })
    })
  }

  /** Throws the error that an append would be refused with now. After a failed write, another write is needed to find out. */
  async checkWritable(): Promise<void> {
    const refusal = this.#refusal(1)
    if (refusal !== undefined) throw refusal
    if (this.#failure === undefined) return
    if (this.#isWriting) await this.#writeEnds()
    else await this.#probe()
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Accepts no more records, and resolves when all accepted ones are committed or refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#isWriting || this.#open !== undefined) await this.#writeEnds()
  }

  #refusal(bytes: number): EventLogUnavailableError | undefined {
    if (this.#isClosed) return new EventLogUnavailableError('The event log is closed.')
    if (this.#pendingBytes + bytes > this.#pendingBytesMax) {
      return new EventLogUnavailableError('Too many bytes wait for the disk.')
    }
    return undefined
  }

  #add(stream: number, value: Uint8Array, receivedAtMs: number): OpenCommit {
    const commit = this.#open ?? this.#begin()
    commit.buffer.add(stream, value, receivedAtMs)
    this.#pendingBytes += recordHeaderBytes + value.length
    return commit
  }

  #begin(): OpenCommit {
    const buffer = this.#spares.pop() ?? new CommitBuffer(this.#tail.topics.streamCount)
    this.#open = { buffer, durable: undefined, waiters: [] }
    this.#schedule()
    return this.#open
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return
    this.#isScheduled = true
    // At the end of this turn of the event loop, so that all requests of the turn join the same commit.
    setImmediate(() => {
      this.#isScheduled = false
      if (!this.#isWriting) this.#flush()
    })
  }

  #flush(): void {
    const commit = this.#open
    if (commit === undefined) return
    const bytes = commit.buffer.bytes - commitHeaderBytes
    this.#open = undefined
    this.#isWriting = true
    this.#tail.write(commit.buffer, (error) => {
      this.#pendingBytes -= bytes
      this.#finish(commit, error)
    })
  }

  #finish({ buffer, waiters }: OpenCommit, error: Error | undefined): void {
    // The next commit starts before the waiters run, so that the disk is not idle while responses are written.
    this.#endWrite(error)
    const failure = error ?? this.#publish(buffer.counts)
    if (failure === undefined) {
      for (const waiter of waiters) waiter.committed()
    } else {
      this.#failure = asUnavailable(failure)
      for (const waiter of waiters) waiter.failed(this.#failure)
    }
    buffer.clear()
    this.#spares.push(buffer)
  }

  #publish(counts: readonly number[]): Error | undefined {
    try {
      this.#onCommitted(counts)
      return undefined
    } catch (error) {
      return error as Error
    }
  }

  async #probe(): Promise<void> {
    this.#isWriting = true
    await this.#tail.probe().then(
      () => this.#endWrite(this.#publish(Array<number>(this.#tail.topics.streamCount).fill(0))),
      (error: Error) => this.#endWrite(error),
    )
  }

  #endWrite(error: Error | undefined): void {
    this.#isWriting = false
    this.#failure = error && asUnavailable(error)
    this.#flush()
    const waiting = this.#afterWrite
    this.#afterWrite = []
    for (const go of waiting) go()
  }

  #writeEnds(): Promise<void> {
    return new Promise((resolve) => this.#afterWrite.push(resolve))
  }
}

function asUnavailable(error: Error): EventLogUnavailableError {
  return new EventLogUnavailableError(`The event log cannot write. ${error.message}`, {
    cause: error,
  })
}
