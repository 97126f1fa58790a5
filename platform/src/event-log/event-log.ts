/** One record as it is read back. `value` may be a view into a shared buffer: use it before the next read, or copy. */
export type LogRecord = {
  readonly offset: number
  /** Receive time given at the append, Unix milliseconds. */
  readonly receivedAtMs: number
  readonly value: Uint8Array
}

export type LogAppend = {
  readonly partition: number
  readonly value: Uint8Array
}

export type ReadLimits = {
  readonly recordsMax: number
  readonly bytesMax: number
}

/** The log cannot take records now (disk full, closed, queue limit reached). Nothing of the append was kept. */
export class EventLogUnavailableError extends Error {
  override readonly name = 'EventLogUnavailableError'
}

/** Somebody else moved the group's position: this consumer is a zombie and must stop. */
export class GroupFencedError extends Error {
  override readonly name = 'GroupFencedError'
}

/**
 * The durable, partitioned, append-only log: the truth that counters and stored records are functions of.
 * Offsets of a partition are consecutive integers from 0.
 */
export interface EventLog {
  partitionCount(topic: string): number

  /**
   * Appends one record and resolves with its offset once it is durable. The bytes are copied before the call
   * returns, so the caller may reuse its buffer. Rejects with EventLogUnavailableError when nothing was kept.
   */
  append(topic: string, partition: number, value: Uint8Array, receivedAtMs: number): Promise<number>

  /** Appends all records or none, and resolves with their offsets in input order once all are durable. */
  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]>

  /**
   * The offset that follows the last durable record of the partition: what a reader must reach to have seen all acks
   * given before the call, by whatever process. A log on this machine knows it without a wait.
   */
  head(topic: string, partition: number): number | Promise<number>

  /** The oldest offset still kept. */
  oldest(topic: string, partition: number): number | Promise<number>

  /** Records from `fromOffset` on, in order, at least one if there is one; empty at the head. */
  read(
    topic: string,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]>

  /** Resolves as soon as any partition of the topic may have grown, or after the time-out. May wake without cause. */
  waitForAppend(topic: string, timeoutMs: number): Promise<void>

  /** The stored position of a consumer group: the next offset to process, and the group's own note beside it. */
  position(group: string, topic: string, partition: number): Promise<GroupPosition>

  /**
   * Moves the position if it still is `expectedOffset` and still carries the note `expectedNote`, else throws
   * GroupFencedError. Durable on return. The note carries what the group needs after a crash (the sink: its open batch).
   */
  commit(
    group: string,
    topic: string,
    partition: number,
    expected: GroupPosition,
    next: GroupPosition,
  ): Promise<void>

  /** Deletes whole batches older than `receivedBeforeMs` that every group in `groups` has passed. */
  trim(
    topic: string,
    partition: number,
    receivedBeforeMs: number,
    groups: readonly string[],
  ): Promise<void>

  /** Throws EventLogUnavailableError when an append would be refused now. */
  checkWritable(): Promise<void>

  close(): Promise<void>
}

export type GroupPosition = {
  readonly offset: number
  readonly note: string
}
