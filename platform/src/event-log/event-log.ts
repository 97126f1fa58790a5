/** One record read from the log. `value` may be a view into a shared buffer: use it before the next read, or copy it. */
export type LogRecord = {
  readonly offset: number
  /** Receive time passed to the append, in Unix milliseconds. */
  readonly receivedAtMs: number
  readonly value: Uint8Array
}

export type LogAppend = {
  readonly partition: number
  readonly value: Uint8Array
  /** Stored with the value if the log supports keys, for consumers that read the log by other means. */
  readonly key?: string
}

export type ReadLimits = {
  readonly recordsMax: number
  readonly bytesMax: number
}

/**
 * The log cannot accept records now (disk full, closed, queue limit reached), or does not answer. A log on this machine has stored
 * nothing of the append. For a log behind a network, the acknowledgement may have been lost after the records were stored.
 */
export class EventLogUnavailableError extends Error {
  override readonly name = 'EventLogUnavailableError'
}

/** Another member moved the position of the group. This consumer has lost the partition and must stop. */
export class GroupFencedError extends Error {
  override readonly name = 'GroupFencedError'
}

/**
 * The durable, partitioned, append-only log. It is the source of truth: counters and stored records can be rebuilt from it. Offsets
 * of a partition are consecutive integers from 0.
 */
export interface EventLog {
  partitionCount(topic: string): number

  /**
   * Appends one record and resolves once it is durable. The bytes are copied before the call returns, so the caller may reuse its
   * buffer. Records that become durable together may share one promise. Rejects with an EventLogUnavailableError.
   */
  append(
    topic: string,
    partition: number,
    value: Uint8Array,
    receivedAtMs: number,
    key?: string,
  ): Promise<void>

  /**
   * Appends all records and resolves with their offsets, in the order of the input, once all are durable. On one machine all or
   * none are appended. Across several partitions of a cluster, a refused call may have appended some of them.
   */
  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]>

  /**
   * Returns the offset after the last durable record of the partition. A reader that reaches it has seen all records that any
   * process acknowledged before the call. A log on this machine returns it at once; one behind a network rejects with an
   * EventLogUnavailableError if it does not answer in time.
   */
  head(topic: string, partition: number): number | Promise<number>

  /**
   * Returns the head from the latest answer or append in this process, for use while the log does not answer. Undefined if none is
   * known.
   */
  lastKnownHead(topic: string, partition: number): number | undefined

  /** Returns the oldest offset that is still stored. */
  oldest(topic: string, partition: number): number | Promise<number>

  /** Returns records from `fromOffset` on, in order. Returns at least one record if there is one, and none at the head. */
  read(
    topic: string,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<LogRecord[]>

  /** Resolves as soon as any partition of the topic may have grown, or after the timeout. Spurious wake-ups are possible. */
  waitForAppend(topic: string, timeoutMs: number): Promise<void>

  /** Joins a consumer group whose members share the partitions of the topics. Resolves before the first partition is assigned. */
  join(group: string, topics: readonly string[], member: GroupMember): Promise<GroupMembership>

  /** Returns the stored position of a consumer group: the next offset to process, and a note of the group. */
  position(group: string, topic: string, partition: number): Promise<GroupPosition>

  /**
   * Moves the position if it still equals `expected`, offset and note; otherwise rejects with a GroupFencedError. The new position
   * is durable when this resolves. The note holds what the group needs after a crash (for the sink: its open batch). Only members
   * that own the partition may commit; others may be fenced.
   */
  commit(
    group: string,
    topic: string,
    partition: number,
    expected: GroupPosition,
    next: GroupPosition,
  ): Promise<void>

  /**
   * Allows the deletion of records that are older than `receivedBeforeMs` and that every group in `groups` has passed. A log
   * deletes in larger units, which may contain records of other partitions: it then waits until those may be deleted too.
   */
  trim(
    topic: string,
    partition: number,
    receivedBeforeMs: number,
    groups: readonly string[],
  ): Promise<void>

  /** Throws an EventLogUnavailableError if an append would be refused now. */
  checkWritable(): Promise<void>

  /**
   * Throws if a topic has another number of partitions than its records were placed on. This process continues with the partitions
   * that it knows, but a process that starts now would refuse to.
   */
  checkPartitions(): Promise<void>

  /** Throws if the log deletes the position of a group that is inactive for this many minutes. */
  checkPositionsKept(minutes: number): Promise<void>

  close(): Promise<void>
}

/** Callbacks of a group member. For one partition, a callback is called only after the previous one has completed. */
export type GroupMember = {
  /** The member now owns the partition. Normally no other member processes it. */
  readonly assigned: (topic: string, partition: number) => void
  /** The member no longer owns the partition, and another member may process it. Resolves when this member has stopped. */
  readonly revoked: (topic: string, partition: number) => Promise<void>
}

export interface GroupMembership {
  /** False while the group cannot be reached or is rebalancing. */
  readonly isJoined: boolean
  /** Revokes all partitions, then leaves the group. */
  leave(): Promise<void>
}

export type GroupPosition = {
  readonly offset: number
  readonly note: string
}

export function isSamePosition(one: GroupPosition, other: GroupPosition): boolean {
  return one.offset === other.offset && one.note === other.note
}
