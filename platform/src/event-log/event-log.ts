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
  /** Kept beside the value where a log has a place for it: for those who read it by other means. */
  readonly key?: string
}

export type ReadLimits = {
  readonly recordsMax: number
  readonly bytesMax: number
}

/**
 * The log cannot take records now (disk full, closed, queue limit reached), or does not answer. A log on this machine has
 * kept nothing of the append; behind a network its answer may have been lost after the records were kept.
 */
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
   * Appends one record and resolves once it is durable. The bytes are copied before the call returns, so the caller may
   * reuse its buffer. Records that become durable together may share one promise. Rejects with EventLogUnavailableError.
   */
  append(
    topic: string,
    partition: number,
    value: Uint8Array,
    receivedAtMs: number,
    key?: string,
  ): Promise<void>

  /**
   * Appends all records and resolves with their offsets in input order once all are durable. On one machine it is all or
   * none; over several partitions of a cluster, a call that is refused may have left some of them in the log.
   */
  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]>

  /**
   * The offset that follows the last durable record of the partition: what a reader must reach to have seen all acks
   * given before the call, by whatever process. A log on this machine knows it without a wait; one behind a network
   * rejects with EventLogUnavailableError when it does not answer in time.
   */
  head(topic: string, partition: number): number | Promise<number>

  /**
   * The head as it was last heard of here, by an answer or an append, for whoever must go on while the log does not
   * answer. Undefined when nothing was heard yet.
   */
  lastKnownHead(topic: string, partition: number): number | undefined

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

  /**
   * Takes part in a group, whose members share the partitions of the topics among them. Resolves before the first one
   * is assigned.
   */
  join(group: string, topics: readonly string[], member: GroupMember): Promise<GroupMembership>

  /** The stored position of a consumer group: the next offset to process, and the group's own note beside it. */
  position(group: string, topic: string, partition: number): Promise<GroupPosition>

  /**
   * Moves the position if it still is `expectedOffset` and still carries the note `expectedNote`, else throws
   * GroupFencedError. Durable on return. The note carries what the group needs after a crash (the sink: its open batch).
   * For members to whom the partition is assigned; any other may be told that it is fenced.
   */
  commit(
    group: string,
    topic: string,
    partition: number,
    expected: GroupPosition,
    next: GroupPosition,
  ): Promise<void>

  /**
   * Allows the deletion of what is older than `receivedBeforeMs` and what every group in `groups` has passed. A log
   * deletes in units of its own, which may hold records of other partitions too: then it waits until those are allowed.
   */
  trim(
    topic: string,
    partition: number,
    receivedBeforeMs: number,
    groups: readonly string[],
  ): Promise<void>

  /** Throws EventLogUnavailableError when an append would be refused now. */
  checkWritable(): Promise<void>

  /**
   * Throws when a topic has another number of partitions than its records were placed on. This process goes on with the
   * partitions that it knows, but one that starts now would refuse to.
   */
  checkPartitions(): Promise<void>

  /** Throws when the log forgets the position of a group that is away for so many minutes. */
  checkPositionsKept(minutes: number): Promise<void>

  close(): Promise<void>
}

/** What a member is told of its partitions. For one partition nothing is told before what was told last is done. */
export type GroupMember = {
  /** From here on this member works on the partition, and as a rule nobody else does. */
  readonly assigned: (topic: string, partition: number) => void
  /** Another one may work on it now. Resolves when the work here has stopped. */
  readonly revoked: (topic: string, partition: number) => Promise<void>
}

export interface GroupMembership {
  /** False while the group cannot be reached or its members gather to share the partitions anew. */
  readonly isJoined: boolean
  /** Everything is revoked, then the others share it. */
  leave(): Promise<void>
}

export type GroupPosition = {
  readonly offset: number
  readonly note: string
}
