/**
 * What the sink keeps beside its position in the log, for those who read what it has stored.
 *
 * Every record below the position is stored. Between two batches the note is `closed`. While a batch is stored it is
 * `open`: the batch begins at the position, and part of it may be in ClickHouse already.
 */
export type SinkNote = ClosedNote | OpenNote

type CommonNote = {
  /**
   * A random name given with the first batch. It is in the insert tokens, so that a log that starts again at offset 0
   * cannot meet tokens of its predecessor and have its rows dropped.
   */
  readonly lineage: string
  /** Whether ClickHouse has records that were moved there and were never in this log. */
  readonly hasMovedRecords: boolean
  /**
   * The incarnation of ClickHouse in which the sink last compared it with the log. Readers that find another one wait: an
   * older copy may have been put in its place. Undefined in notes of earlier releases.
   */
  readonly comparedIncarnation: string | undefined
  /**
   * Batches that start below this offset may be stored already, in part or with other ends, because the position was moved
   * back. They are compared as they are stored. Undefined when the sink stores what was never stored.
   */
  readonly storeAgainTo: number | undefined
}

export type ClosedNote = CommonNote & { readonly state: 'closed' }

export type OpenNote = CommonNote & {
  readonly state: 'open'
  /** The end of the batch. No restart moves it. */
  readonly openTo: number
  /** Under how many further tokens its rows may have been sent since. */
  readonly furtherTokens: number
  /** Unix milliseconds. Undefined in notes of earlier releases. */
  readonly openedAtMs: number | undefined
}

/** The note of a position that no sink has touched. */
export function firstNote(lineage: string): ClosedNote {
  return {
    state: 'closed',
    lineage,
    hasMovedRecords: false,
    comparedIncarnation: undefined,
    storeAgainTo: undefined,
  }
}

export function openBatchIn(note: ClosedNote, openTo: number, nowMs: number): OpenNote {
  return { ...note, state: 'open', openTo, furtherTokens: 0, openedAtMs: nowMs }
}

/** The note when all of the open batch is stored. */
export function closeBatchIn(note: OpenNote): ClosedNote {
  const { lineage, hasMovedRecords, comparedIncarnation, storeAgainTo, openTo } = note
  const isPast = storeAgainTo !== undefined && openTo >= storeAgainTo
  return {
    state: 'closed',
    lineage,
    hasMovedRecords,
    comparedIncarnation,
    storeAgainTo: isPast ? undefined : storeAgainTo,
  }
}

/**
 * The note when the position goes back from `storedOffset`, because ClickHouse lacks what was stored. An open batch is given
 * up: what it has stored is compared with other ends. Its further tokens go with it, because they name these ends.
 */
export function moveBackIn(note: SinkNote, storedOffset: number): ClosedNote {
  const { lineage, hasMovedRecords, comparedIncarnation } = note
  const storeAgainTo = Math.max(
    note.storeAgainTo ?? 0,
    note.state === 'open' ? note.openTo : storedOffset,
  )
  return { state: 'closed', lineage, hasMovedRecords, comparedIncarnation, storeAgainTo }
}

/** The names under which the members are stored, since before they had these ones. */
type StoredNote = {
  readonly lineage: string
  readonly openTo?: number | undefined
  readonly store?: string | undefined
  readonly againTo?: number | undefined
  readonly openedAtMs?: number | undefined
  readonly again?: number
  readonly hasMovedRecords?: boolean
}

/**
 * Stands before a note with `againTo`. Releases that do not know `againTo` would drop it, and then store records under new
 * tokens that are stored already. They cannot read such a note, so they leave the partition alone until a newer sink has it.
 */
const storingAgain = 'v2 '

/** Undefined for the empty note of a position that no sink has touched. */
export function readSinkNote(text: string): SinkNote | undefined {
  if (text === '') return undefined
  const json = text.startsWith(storingAgain) ? text.slice(storingAgain.length) : text
  const stored = JSON.parse(json) as StoredNote
  const common: CommonNote = {
    lineage: stored.lineage,
    hasMovedRecords: stored.hasMovedRecords ?? false,
    comparedIncarnation: stored.store,
    storeAgainTo: stored.againTo,
  }
  const { openTo, again: furtherTokens = 0, openedAtMs } = stored
  if (openTo === undefined) return { ...common, state: 'closed' }
  return { ...common, state: 'open', openTo, furtherTokens, openedAtMs }
}

export function writeSinkNote(note: SinkNote): string {
  const { lineage, hasMovedRecords, comparedIncarnation, storeAgainTo } = note
  const open = note.state === 'open' ? note : undefined
  // Members that are undefined are left out.
  const stored: StoredNote = {
    lineage,
    openTo: open?.openTo,
    store: comparedIncarnation,
    againTo: storeAgainTo,
    openedAtMs: open?.openedAtMs,
    ...(open !== undefined && open.furtherTokens > 0 ? { again: open.furtherTokens } : {}),
    ...(hasMovedRecords ? { hasMovedRecords } : {}),
  }
  return `${storeAgainTo === undefined ? '' : storingAgain}${JSON.stringify(stored)}`
}

/** The same batch has the same token, whoever inserts it and however often; `furtherToken` counts those it got later. */
export function insertToken(
  lineage: string,
  topic: string,
  partition: number,
  fromOffset: number,
  toOffset: number,
  furtherToken: number,
): string {
  const token = `${topic}-${partition}-${fromOffset}-${toOffset}-${lineage}`
  return furtherToken === 0 ? token : `${token}-again-${furtherToken}`
}
