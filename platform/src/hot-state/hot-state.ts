import type { AcknowledgedHeads } from '../event-log/acknowledged-heads.ts'
import type { BucketAmounts, BucketSpec } from './buckets.ts'
import type { Reservations, SettledReservation } from './reservations.ts'

/**
 * Hot state holds the data that requests need within one round trip: small published documents, and counters per subject that are
 * computed from the log. All of it can be lost and rebuilt.
 *
 * The two reads of an entry, which every request makes, return synchronously if the state is local.
 *
 * Terms: a *space* is one isolated world, such as an environment. A *subject* is what usage is counted for. A *series* names what
 * is counted. A *scope* narrows it down; '' means no scope. An *entry* is the document of a (subject, scope) pair together with the
 * *windows* of time for which its counters are kept. Usage outside of all windows of its subject is kept in *slots* of one second,
 * and folded into a window that is published later. An entry may also list *bucket specs*, for which usage is summed by *buckets* of
 * equal length whether or not a window contains it.
 *
 * The counters and slots of a partition are its *counts*. Lost counts are rebuilt from the permanent store of the log's records:
 * they are built as a *shadow*, which replaces the counts in use once it is complete (a *restore*).
 */
export interface HotState extends Reservations {
  putDocument(key: string, document: string): Promise<void>
  deleteDocument(key: string): Promise<void>
  readDocument(key: string): Promise<string | undefined>

  /**
   * Publishes an entry: replaces the document and the windows. To the newly covered time of each window, it adds the slots of this
   * scope and of scope '' in that time. Folded slots of this scope are removed; those of scope '' stay, because another scope may
   * still need them. A window that is published again keeps its start. A version lower than the stored one changes nothing.
   *
   * With many slots this takes several atomic steps, each of which folds a limited number. Readers see the previous document until
   * the last step. After every step the counts are correct for the windows as listed then: if a publication is interrupted, the
   * next one of the entry continues it.
   *
   * A bucket spec that is new starts with what the slots of this scope and of scope '' still hold; usage that a window has counted
   * is in none. A spec that is withdrawn is not returned by reads, but still counted until it is swept, so that a spec that returns
   * lacks nothing. A spec whose length, offset or number of kept buckets has changed is new. Throws a RangeError for specs that
   * `checkBucketSpecs` refuses.
   */
  putEntry(at: EntryAddress, entry: Entry): Promise<void>

  /**
   * Publishes entries of one partition, each as `putEntry` does, those of one subject in order. If it rejects, some of them may be
   * published, and no part of it is still running.
   */
  putEntries(space: string, partition: number, entries: readonly NamedEntry[]): Promise<void>

  /** Removes the document and the windows of the entry. Counted amounts stay until they are swept. */
  deleteEntry(at: EntryAddress): Promise<void>

  /** Returns the entry, the counters of one series and the applied offset, all of the same moment. */
  readEntry(at: EntryAddress, series: string): EntryView | Promise<EntryView>

  /** Returns the same for several series, all of the same moment and in one round trip. */
  readEntrySeries(
    at: EntryAddress,
    series: readonly string[],
  ): EntrySeriesView | Promise<EntrySeriesView>

  /** Returns the document of an entry, for callers that need no counters. */
  readEntryDocument(at: EntryAddress): string | undefined | Promise<string | undefined>

  /**
   * Works like `readEntryDocument`, but may return what this process has cached. `putEntry`, `putEntries` and `deleteEntry` resolve
   * only after no process returns an older document. After a loss of data, it may return a document that is lost.
   */
  cachedEntryDocument(at: EntryAddress): string | undefined | Promise<string | undefined>

  /** Returns the next offset to apply to the counters of this partition: all smaller offsets have been applied. */
  appliedOffset(space: string, partition: number): Promise<number>

  /** Returns for each id the offset that first used it, or undefined. */
  readMarks(
    space: string,
    partition: number,
    ids: readonly string[],
  ): Promise<(number | undefined)[]>

  /**
   * Sets the deduplication marks of records before they are counted. In one atomic step it checks that marks are complete up to
   * `fromOffset`, sets missing marks, changes no existing one, and records that marks are complete up to `toOffset`. Returns the
   * offset of each id afterwards. Returns 'incomplete', without any change, if an id of a record before `fromOffset` may have no
   * mark.
   *
   * Marks are complete up to the fence, and up to the offsets recorded by claims and restores. That information is lost together
   * with the marks, so it is never ahead of them.
   */
  claimMarks(claim: MarkClaim): Promise<readonly number[] | 'incomplete'>

  /**
   * Applies one batch in one atomic step: checks that the fence of the partition is `expectedOffset`, sets missing marks, adds
   * every increment to its window or slot, and moves the fence to `nextOffset`. Returns 'fenced', without any change, if the fence
   * is elsewhere.
   *
   * An increment with a scope is added to the window of that scope which contains its second, otherwise to its slot. An increment
   * with scope '' is added to the matching window of every scope of the subject, and always to its own slot as well. Both are also
   * added to the buckets of every spec of the entries that they count for, unless the bucket is older than those that are kept.
   */
  apply(batch: CounterBatch): Promise<'applied' | 'fenced'>

  /**
   * Begins to rebuild the counts of a partition as a shadow beside the counts in use. The shadow is not read, and entries that are
   * published meanwhile fold the slots of both. Returns a unique token. An unfinished earlier restore is dropped, and its process
   * is fenced.
   */
  beginRestore(space: string, partition: number): Promise<string>

  /**
   * Adds one step to the shadow in one atomic step, and sets missing marks, which belong to no shadow. Steps count from 0. Returns
   * 'fenced', without any change, if another restore has begun, this one has finished or was lost, or this is not the next step.
   * Otherwise returns the spans that were not taken. Repeating the last added step changes nothing and returns the same answer, for
   * callers that lost it.
   *
   * A span of one second is always taken, like an increment of `apply`. A longer span is taken if, in each scope that it counts
   * for, it touches at most one listed window, which contains all of it. A span without a scope is taken only if its slots are
   * settled. A span that ends in buckets that are still kept is taken only if one bucket of each spec contains it, and is cut
   * otherwise, also if it touches no window.
   */
  restore(step: RestoreStep): Promise<SpansNotTaken | 'fenced'>

  /**
   * Makes the shadow the counts in use and `nextOffset` the fence, in one atomic step. Returns 'fenced', without any change, as
   * `restore` does.
   */
  finishRestore(finish: RestoreFinish): Promise<'restored' | 'fenced'>

  /** Resolves when a batch may have been applied, or after the timeout. Spurious wake-ups are possible. */
  waitForApply(timeoutMs: number): Promise<void>

  /** Deletes a limited number of expired keys, and of counts that are no longer in use. Returns the number of deleted keys. */
  sweep(space: string, partition: number, limits: SweepLimits): Promise<number>

  /**
   * Returns text that changes whenever written data may have been lost, and sometimes without a loss. It does not change after a
   * deliberate deletion such as FLUSHALL; missing data is then detected when it is read.
   */
  incarnation(): Promise<string>

  /**
   * Returns which server holds which part of the data, and the run id of each server. With several servers, one may lose its data
   * while the others lose nothing.
   */
  lives(): Promise<string>

  /**
   * Compares two results of `lives`. Returns a function that tells whether a place may have been lost, or 'everything'. A place
   * counts as lost if another server, or the same server after a restart, now holds it.
   */
  lostBetween(then: string, now: string): Loss

  /** Acknowledged heads of a log behind a network. Undefined in a state on one machine, whose log knows its heads. */
  readonly acknowledgedHeads: AcknowledgedHeads | undefined

  /**
   * Throws if a server with replicas acknowledges writes that fewer than `least` of them have, because a failover would lose such
   * writes. Servers without replicas are not checked.
   */
  checkReplicas(least: number): Promise<void>

  /** Throws if hot state does not answer. */
  ping(): Promise<void>

  close(): Promise<void>
}

/** A place in hot state: a document by its key, or everything of a partition. */
export type HotPlace =
  { readonly document: string } | { readonly space: string; readonly partition: number }

export type Loss = 'everything' | ((place: HotPlace) => boolean)

export type EntryAddress = {
  readonly space: string
  readonly partition: number
  readonly subject: string
  readonly scope: string
}

/** A half-open range of Unix seconds. The id is unique for the subject and scope, and is never reused. */
export type Window = {
  readonly id: string
  readonly fromSecond: number
  readonly toSecond: number
  /**
   * Windows of the same entry that are withdrawn by this or an earlier publication while this one returns: from then on, their
   * amounts count in this window.
   */
  readonly takesIn?: readonly string[]
}

export type Entry = {
  readonly version: number
  readonly document: string
  readonly windows: readonly Window[]
  /** Sums by bucket that are kept for every series, beside the windows. Absent means none. */
  readonly buckets?: readonly BucketSpec[]
  /**
   * Reservations at the same place that end and are forgotten in the step that changes the document, because the new document
   * includes what they held. Reservations that are not held are ignored.
   */
  readonly endedReservations?: readonly string[]
}

/** An entry with its subject and scope. */
export type NamedEntry = Entry & Pick<EntryAddress, 'subject' | 'scope'>

export type EntryView = SeriesView & {
  /** Undefined if no entry is published for the pair. */
  readonly document: string | undefined
  readonly appliedOffset: number
}

export type EntrySeriesView = Omit<EntryView, keyof SeriesView> & {
  /** The counters of each series that was asked for. */
  readonly series: ReadonlyMap<string, SeriesView>
}

/** The counters of one series of an entry. */
export type SeriesView = {
  /** Amounts by window id, for windows with any, including windows that the entry no longer lists. */
  readonly amounts: ReadonlyMap<string, bigint>
  /**
   * Amounts of the listed bucket specs that have any; absent if none has. Buckets that are no longer kept may be among them until
   * usage of the series is added or they are swept.
   */
  readonly buckets?: BucketAmounts
}

export type Mark = {
  readonly id: string
  readonly offset: number
  /** Receive time in Unix milliseconds. Marks are swept by it. */
  readonly receivedAtMs: number
}

/** The marks of the records in a range of offsets: of the records that have a key and are known to have no mark. */
export type MarkClaim = {
  readonly space: string
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  readonly marks: readonly Mark[]
}

export type Increment = {
  readonly subject: string
  readonly scope: string
  readonly series: string
  readonly second: number
  /** Amount in millionths of a unit. */
  readonly amount: bigint
}

export type CounterBatch = {
  readonly space: string
  readonly partition: number
  readonly expectedOffset: number
  readonly nextOffset: number
  readonly marks: readonly Mark[]
  readonly increments: readonly Increment[]
  /** Reservations of this partition whose usage is among the increments. They end with the batch. */
  readonly settled?: readonly SettledReservation[]
}

/** The place of one step in a restore. */
export type RestorePosition = {
  readonly space: string
  readonly partition: number
  readonly token: string
  readonly step: number
}

export type RestoreStep = RestorePosition & {
  readonly spans?: readonly Span[]
  /** If set, slots that a sweep with these limits would delete are *settled*, and nothing is added to them. */
  readonly slotLimits?: SlotLimits
  readonly marks?: readonly Mark[]
  /** If set, every id of a record with a smaller offset has its mark after this step. */
  readonly markedOffset?: number
}

/** `step` is the number of added steps. */
export type RestoreFinish = RestorePosition & { readonly nextOffset: number }

export type Span = {
  readonly subject: string
  readonly scope: string
  readonly series: string
  readonly fromSecond: number
  /** Last second, inclusive. */
  readonly lastSecond: number
  /** Usage in this time, in millionths of a unit. */
  readonly amount: bigint
}

/** Indices into the spans of a step. */
export type SpansNotTaken = {
  /** Spans that touch a listed window of a scope they count for. They must be sent again in smaller pieces. */
  readonly cut: readonly number[]
  /** Spans that touch no window. In smaller pieces they would be kept in slots, which matters for recent ones only. */
  readonly outside: readonly number[]
}

/** Limits for slots that no window needs any more. */
export type SlotLimits = {
  /** Slots older than this are deleted. */
  readonly slotsBeforeSecond: number
  /**
   * Slots older than this are deleted if their subject has an entry at scope '' (a known customer). Exception: slots after the last
   * window of their scope, or of any scope for those without one, because a later window may still be published.
   */
  readonly knownSubjectSlotsBeforeSecond: number
}

export type SweepLimits = SlotLimits & {
  /** Data of reservations of a subject and scope is deleted when the last of them expired before this. */
  readonly reservationsExpiredBeforeMs: number
  readonly marksReceivedBeforeMs: number
  /** Windows that ended, and bucket specs that were withdrawn, before this are deleted. */
  readonly windowsEndedBeforeSecond: number
  readonly keysMax: number
}
