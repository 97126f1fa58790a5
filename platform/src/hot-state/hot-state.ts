import type { AcknowledgedHeads } from '../event-log/acknowledged-heads.ts'
import type { Reservations, SettledReservation } from './reservations.ts'

/**
 * HotState keeps what the request path needs within one round trip: small published documents, and counters per
 * subject that are a function of the log. Everything in it can be lost and made again.
 *
 * The two reads of an entry, which every request makes, answer at once where the state is at hand.
 *
 * Words: a *space* is one of the worlds that never meet; a *subject* is what is counted; a *series* names what is
 * counted of it; a *scope* narrows it, '' being "no scope given". An *entry* is the document that a (subject, scope)
 * pair has, with the *windows* of time its counters are kept for. Counts that fall in no window of their subject
 * wait in one-second *slots*, and are folded into a window that is published later.
 *
 * Counters and slots of a partition are its *counts*. When they were lost they are made again from where the log's
 * records are kept for good: in a *shadow* that takes the place of the counts in use once it is complete (a *restore*).
 */
export interface HotState extends Reservations {
  putDocument(key: string, document: string): Promise<void>
  deleteDocument(key: string): Promise<void>
  readDocument(key: string): Promise<string | undefined>

  /**
   * Publishes an entry: replaces the document and the windows, and adds to each window, in the time that the entry did
   * not have before, the waiting slots of this scope and of scope '' that fall into it. Slots of this scope that were
   * folded are removed; those of scope '' stay, because another scope may still need them. A window that is published
   * again begins where it did. A version lower than the stored one changes nothing.
   *
   * Where many slots wait that takes several atomic steps, each of which folds a bounded number of them. Whoever reads
   * meanwhile sees the former document. Every step leaves counts that are right for the windows as far as they are
   * listed then: when a publication is cut short, the next one of the entry does what is left.
   */
  putEntry(at: EntryAddress, entry: Entry): Promise<void>

  /**
   * Publishes entries of one partition, each as `putEntry` does, those of one subject in their order. When it has failed,
   * some of them are published and nothing of it is under way any more.
   */
  putEntries(space: string, partition: number, entries: readonly NamedEntry[]): Promise<void>

  /** Removes the document and its windows from the entry; amounts already counted stay until they are swept. */
  deleteEntry(at: EntryAddress): Promise<void>

  /** The entry and the counters of one series, as of one moment, with the projection's applied offset at that moment. */
  readEntry(at: EntryAddress, series: string): EntryView | Promise<EntryView>

  /** The document of an entry, for callers that need no counters. */
  readEntryDocument(at: EntryAddress): string | undefined | Promise<string | undefined>

  /** The next offset that the counters of this partition wait for: every smaller one has been applied. */
  appliedOffset(space: string, partition: number): Promise<number>

  /** For each id the offset that first used it, or undefined. */
  readMarks(
    space: string,
    partition: number,
    ids: readonly string[],
  ): Promise<(number | undefined)[]>

  /**
   * Sets the marks of some records before they are counted. In one atomic step it checks that marks are complete up to
   * `fromOffset`, sets each that is not there yet, moves none, and notes that they are complete up to `toOffset`.
   * Returns the offset that holds each id afterwards; or 'incomplete', having changed nothing, when an id of a record
   * before `fromOffset` may have no mark.
   *
   * Marks are complete up to the fence, and up to what claims and restores have noted. The note is lost with the marks,
   * and cannot come after a loss.
   */
  claimMarks(claim: MarkClaim): Promise<readonly number[] | 'incomplete'>

  /**
   * Applies one batch in one atomic step: checks that the partition's fence is `expectedOffset`, sets the missing
   * marks, adds every increment to its window (or its slot), and moves the fence to `nextOffset`.
   * Returns 'fenced', having changed nothing, when the fence is elsewhere.
   *
   * An increment with a scope goes to that scope's window which holds its second, else to its slot. An increment
   * with scope '' goes to the fitting window of every scope of the subject and always to its own slot as well.
   */
  apply(batch: CounterBatch): Promise<'applied' | 'fenced'>

  /**
   * Begins to make the counts of a partition again, in a shadow beside those in use: nothing is read from it, and
   * entries that are published meanwhile fold slots of both. Returns the restore's token, which no other one has had.
   * An earlier restore that has not finished is dropped, and whoever runs it is fenced from now on.
   */
  beginRestore(space: string, partition: number): Promise<string>

  /**
   * Adds one step to the shadow, in one atomic step, and sets the marks that are missing, which belong to no shadow.
   * Steps count from 0. Returns 'fenced', having changed nothing, when another restore has begun, this one has finished
   * or was lost, or this is not the next step; else the spans that were not taken. A step that was the last one to be
   * added is not added again, and answered as it was: so whoever got no answer can ask once more.
   *
   * A span of one second is always taken, as `apply` takes an increment. A longer one is taken when of each scope it counts
   * for it touches one listed window at most, which holds it whole; one without a scope only when its slots are settled.
   */
  restore(step: RestoreStep): Promise<SpansNotTaken | 'fenced'>

  /**
   * In one atomic step the shadow becomes the counts in use, and the fence `nextOffset`. Returns 'fenced', having
   * changed nothing, as `restore` does.
   */
  finishRestore(finish: RestoreFinish): Promise<'restored' | 'fenced'>

  /** Resolves when a batch may have been applied, or after the time-out. May wake without cause. */
  waitForApply(timeoutMs: number): Promise<void>

  /** Deletes a bounded amount of what has expired, and of counts that are not in use any more. Returns how many keys went. */
  sweep(space: string, partition: number, limits: SweepLimits): Promise<number>

  /**
   * Text that changes whenever something that was written may have been lost, and now and then when nothing was. It does
   * not tell of what was deleted on purpose, as by FLUSHALL; what is gone then is missed where it is looked for.
   */
  incarnation(): Promise<string>

  /**
   * Which server keeps what, in which life of its own. Where what is kept lies on several servers, one of them may lose
   * what it has while the others lose nothing.
   */
  lives(): Promise<string>

  /**
   * Returns what may have been lost between two answers of `lives`, as a question about each place; or 'everything'. It
   * counts as lost if another server, or another life of the same one, keeps the place now.
   */
  lostBetween(then: string, now: string): Loss

  /** For a log behind a network. Undefined in a state on one machine, whose log is there and knows its heads. */
  readonly acknowledgedHeads: AcknowledgedHeads | undefined

  /**
   * Throws when a server that has replicas acknowledges writes that fewer than `least` of them have: a failover takes
   * such writes back. Servers without replicas are not judged.
   */
  checkReplicas(least: number): Promise<void>

  /** Throws when HotState cannot answer. */
  ping(): Promise<void>

  close(): Promise<void>
}

/** Where something is kept: a document by its key, or all that belongs to a partition. */
export type HotPlace =
  { readonly document: string } | { readonly space: string; readonly partition: number }

export type Loss = 'everything' | ((place: HotPlace) => boolean)

export type EntryAddress = {
  readonly space: string
  readonly partition: number
  readonly subject: string
  readonly scope: string
}

/** Half-open, Unix seconds. The id is unique for the subject and scope, whatever becomes of the entry. */
export type Window = {
  readonly id: string
  readonly fromSecond: number
  readonly toSecond: number
  /**
   * Windows of the same entry that are withdrawn with the publication, or were before, while this one comes back: what
   * they counted counts here from then on, and no longer there.
   */
  readonly takesIn?: readonly string[]
}

export type Entry = {
  readonly version: number
  readonly document: string
  readonly windows: readonly Window[]
  /**
   * Reservations kept at the same place that end in the step in which the document changes, and are forgotten: what they
   * held is in the document from then on. Those that are not held are passed over.
   */
  readonly endedReservations?: readonly string[]
}

/** An entry with what names it within its partition. */
export type NamedEntry = Entry & Pick<EntryAddress, 'subject' | 'scope'>

export type EntryView = {
  /** Undefined when no entry is published for the pair. */
  readonly document: string | undefined
  /** Amounts by window id, for the windows that have any, including windows that the entry no longer lists. */
  readonly amounts: ReadonlyMap<string, bigint>
  readonly appliedOffset: number
}

export type Mark = {
  readonly id: string
  readonly offset: number
  /** Unix milliseconds; marks are swept by it. */
  readonly receivedAtMs: number
}

/** The marks of the records from one offset up to another, as far as they are keyed and known to have none. */
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
  /** 10^-6 units. */
  readonly amount: bigint
}

export type CounterBatch = {
  readonly space: string
  readonly partition: number
  readonly expectedOffset: number
  readonly nextOffset: number
  readonly marks: readonly Mark[]
  readonly increments: readonly Increment[]
  /** Reservations that are kept in this partition and whose usage is among the increments: they end with it. */
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
  /** When given: slots that a sweep would delete by these are *settled*, and nothing waits in them. */
  readonly slotLimits?: SlotLimits
  readonly marks?: readonly Mark[]
  /** When given: with this step every id of a record with a smaller offset has its mark. */
  readonly markedOffset?: number
}

/** `step` is the number of steps that were added. */
export type RestoreFinish = RestorePosition & { readonly nextOffset: number }

export type Span = {
  readonly subject: string
  readonly scope: string
  readonly series: string
  readonly fromSecond: number
  /** Included. */
  readonly lastSecond: number
  /** What was used in this time, 10^-6 units. */
  readonly amount: bigint
}

/** Indices into the spans of a step. */
export type SpansNotTaken = {
  /** Those that touch a listed window of a scope they count for: to come in smaller pieces. */
  readonly cut: readonly number[]
  /** Those that touch none. In smaller pieces they would wait in slots, which matters for young ones only. */
  readonly outside: readonly number[]
}

/** Which slots no window will want any more. */
export type SlotLimits = {
  /** Slots older than this go. */
  readonly slotsBeforeSecond: number
  /**
   * Slots older than this go when their subject has an entry at scope '' (it is a known customer), unless they lie behind
   * the last window of their scope, or of any scope for those without one: a later one may be published.
   */
  readonly knownSubjectSlotsBeforeSecond: number
}

export type SweepLimits = SlotLimits & {
  /** What is kept of reservations goes with the last of a subject and scope, when that expired before this. */
  readonly reservationsExpiredBeforeMs: number
  readonly marksReceivedBeforeMs: number
  /** Windows that ended before this are deleted. */
  readonly windowsEndedBeforeSecond: number
  readonly keysMax: number
}
