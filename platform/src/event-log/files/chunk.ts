import { readSync } from 'node:fs'
import type { LogRecord } from '../event-log.ts'
import {
  commitAt,
  commitHeaderBytes,
  invalidCommit,
  incompleteCommit,
  recordHeaderBytes,
  recordReceivedAtMs,
  recordStream,
  valueBytes,
} from './commit-format.ts'

/** A position in a segment at which a commit starts, with the state of the log before it. */
export type CommitPlace = {
  /** Offset in the file, in bytes. */
  readonly at: number
  /** Sequence number of the commit. */
  readonly sequence: number
  /** Offset of the next record, by stream. */
  readonly heads: readonly number[]
}

/** The remaining limits of a read. Both are counted down. */
export type ReadBudget = {
  records: number
  bytes: number
}

/** Consecutive commits of a segment in memory, verified, with the positions of their records. */
export class Chunk {
  readonly start: CommitPlace
  /** Offset after the last record in the chunk, by stream. */
  readonly heads: number[]
  newestMs = -Infinity
  #bytes: Buffer
  /** Bytes read from the file, and how many of them are complete commits. */
  #filled = 0
  #used = 0
  #sequence: number
  /** Positions of the records in #bytes, by stream. */
  readonly #records: number[][]

  constructor(start: CommitPlace, bytesMax = usualChunkBytes) {
    this.start = start
    this.heads = [...start.heads]
    this.#bytes = Buffer.allocUnsafeSlow(bytesMax)
    this.#sequence = start.sequence
    this.#records = start.heads.map(() => [])
  }

  /** The position after the last commit in the chunk. */
  get next(): CommitPlace {
    return { at: this.start.at + this.#used, sequence: this.#sequence, heads: [...this.heads] }
  }

  /**
   * Reads commits up to `limit` (bytes of the file) or until the chunk is full. 'stopped' means that the next bytes before the
   * limit are not a valid commit.
   */
  extend(fd: number, limit: number, mark: Buffer): 'at limit' | 'full' | 'stopped' {
    const available = limit - this.start.at
    for (;;) {
      const wanted = Math.min(available, this.#bytes.length)
      if (this.#filled < wanted) this.#fill(fd, wanted)
      const stoppedBy = this.#takeCommits(mark)
      if (this.#used >= available) return 'at limit'
      if (stoppedBy === invalidCommit || this.#filled < wanted || wanted === available) {
        // The file may contain other bytes there at the next read.
        this.#filled = this.#used
        return 'stopped'
      }
      if (this.#used > 0) return 'full'
      this.#growForOneCommit(available)
    }
  }

  /**
   * Appends the stream's records from `offset` on to `records`, at least one if `records` is empty. Returns false when the budget
   * is used up.
   */
  collect(stream: number, offset: number, records: LogRecord[], budget: ReadBudget): boolean {
    const places = this.#records[stream] ?? []
    const first = this.start.heads[stream] ?? 0
    const bytes = this.#bytes
    for (let index = offset - first; index < places.length; index += 1) {
      const at = places[index]!
      const length = valueBytes(bytes, at)
      budget.bytes -= length
      if (records.length > 0 && (budget.bytes < 0 || budget.records <= 0)) return false
      budget.records -= 1
      const start = at + recordHeaderBytes
      records.push({
        offset: first + index,
        receivedAtMs: recordReceivedAtMs(bytes, at),
        value: bytes.subarray(start, start + length),
      })
    }
    return budget.bytes > 0 && budget.records > 0
  }

  #fill(fd: number, wanted: number): void {
    while (this.#filled < wanted) {
      const at = this.start.at + this.#filled
      const read = readSync(fd, this.#bytes, this.#filled, wanted - this.#filled, at)
      if (read === 0) return
      this.#filled += read
    }
  }

  #takeCommits(mark: Buffer): typeof incompleteCommit | typeof invalidCommit {
    for (;;) {
      const expected = { mark, sequence: this.#sequence }
      const length = commitAt(this.#bytes, this.#used, this.#filled, expected)
      if (length === incompleteCommit || length === invalidCommit) return length
      this.#takeRecords(this.#used + commitHeaderBytes, this.#used + length)
      this.#used += length
      this.#sequence += 1
    }
  }

  #takeRecords(from: number, to: number): void {
    const bytes = this.#bytes
    for (let at = from; at < to; at += recordHeaderBytes + valueBytes(bytes, at)) {
      const stream = recordStream(bytes, at)
      this.#records[stream]!.push(at)
      this.heads[stream]! += 1
      this.newestMs = Math.max(this.newestMs, recordReceivedAtMs(bytes, at))
    }
  }

  /**
   * Grows the buffer for a commit that is larger than it. The length of the commit is not verified yet, so it is bounded by the
   * available bytes.
   */
  #growForOneCommit(available: number): void {
    const length = this.#bytes.readUInt32LE(4)
    const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(length, commitHeaderBytes), available))
    this.#bytes.copy(larger, 0, 0, this.#filled)
    this.#bytes = larger
  }
}

const usualChunkBytes = 256 * 1024
