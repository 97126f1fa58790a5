/**
 * The note that the sink stores with its position in the log, for readers of the stored records.
 *
 * Every record below the position is stored. Between two batches the note is `closed`. While a batch is being stored it is `open`:
 * the batch starts at the position, and a part of it may already be in ClickHouse.
 */
export type SinkNote = ClosedNote | OpenNote

type CommonNote = {
  /**
   * A random name that is created with the first batch. It is part of the insert tokens, so that a new log that starts at offset 0
   * does not repeat the tokens of its predecessor, whose rows ClickHouse would ignore.
   */
  readonly lineage: string
  /** True if ClickHouse has records that were moved there and were never in this log. */
  readonly hasMovedRecords: boolean
  /**
   * The incarnation of ClickHouse in which the sink last compared it with the log. Readers that find another incarnation wait,
   * because an older copy may have replaced it. Undefined in notes of earlier releases.
   */
  readonly comparedIncarnation: string | undefined
  /**
   * Batches that start below this offset may already be stored, in part or with other boundaries, because the position was moved
   * back. They are compared when they are stored. Undefined if no later record was ever stored.
   */
  readonly storeAgainTo: number | undefined
  /**
   * A random name of the rows below the position. It is dropped when the position moves back, because rows below the old position
   * are then added, and a new one is created when all of them are stored again. Totals of stored rows apply to one generation only.
   * Undefined while rows may still be added, and in notes of earlier releases.
   */
  readonly generation: string | undefined
}

export type ClosedNote = CommonNote & { readonly state: 'closed' }

export type OpenNote = CommonNote & {
  readonly state: 'open'
  /** The end of the batch. No restart changes it. */
  readonly openTo: number
  /** Number of further tokens under which its rows may have been inserted. */
  readonly furtherTokens: number
  /** Unix milliseconds. Undefined in notes of earlier releases. */
  readonly openedAtMs: number | undefined
}

/** Returns the note of a position that no sink has used yet. */
export function firstNote(lineage: string): ClosedNote {
  return {
    state: 'closed',
    lineage,
    hasMovedRecords: false,
    comparedIncarnation: undefined,
    storeAgainTo: undefined,
    generation: undefined,
  }
}

export function openBatchIn(note: ClosedNote, openTo: number, nowMs: number): OpenNote {
  return { ...note, state: 'open', openTo, furtherTokens: 0, openedAtMs: nowMs }
}

/**
 * Closes the open batch. Returns the note to write once all its rows are stored. `newGeneration` is the name for the stored rows if
 * they have none and no earlier rows are still to be stored again.
 */
export function closeBatchIn(note: OpenNote, newGeneration: () => string): ClosedNote {
  const { lineage, hasMovedRecords, comparedIncarnation, generation, openTo } = note
  const isPast = note.storeAgainTo !== undefined && openTo >= note.storeAgainTo
  const closed: ClosedNote = {
    state: 'closed',
    lineage,
    hasMovedRecords,
    comparedIncarnation,
    storeAgainTo: isPast ? undefined : note.storeAgainTo,
    generation,
  }
  return withGeneration(closed, newGeneration)
}

/** Names the generation of the stored rows if it has no name and no row is still to be stored again. */
export function withGeneration<Note extends SinkNote>(
  note: Note,
  newGeneration: () => string,
): Note {
  if (note.generation !== undefined || note.storeAgainTo !== undefined) return note
  return { ...note, generation: newGeneration() }
}

/**
 * Returns the note after the position moves back from `storedOffset`, because ClickHouse lacks stored records. An open batch is
 * abandoned, and its stored rows are compared with the new batches. Its further tokens are dropped, because they name its old
 * boundaries. The generation is dropped, because rows are added to it.
 */
export function moveBackIn(note: SinkNote, storedOffset: number): ClosedNote {
  const { lineage, hasMovedRecords, comparedIncarnation } = note
  const storeAgainTo = Math.max(
    note.storeAgainTo ?? 0,
    note.state === 'open' ? note.openTo : storedOffset,
  )
  const generation = undefined
  return {
    state: 'closed',
    lineage,
    hasMovedRecords,
    comparedIncarnation,
    storeAgainTo,
    generation,
  }
}

/** The stored member names. They are older than the names in the code. */
type StoredNote = {
  readonly lineage: string
  readonly openTo?: number | undefined
  readonly store?: string | undefined
  readonly againTo?: number | undefined
  readonly openedAtMs?: number | undefined
  readonly again?: number
  readonly hasMovedRecords?: boolean
  readonly generation?: string | undefined
}

/**
 * Prefix of a note with `againTo`. Releases that do not know `againTo` would ignore it and store records again under new tokens.
 * With the prefix they cannot parse the note, so they leave the partition unchanged until a newer sink gets it.
 */
const storeAgainPrefix = 'v2 '

/** Returns undefined for the empty note of a position that no sink has used yet. */
export function readSinkNote(text: string): SinkNote | undefined {
  if (text === '') return undefined
  const json = text.startsWith(storeAgainPrefix) ? text.slice(storeAgainPrefix.length) : text
  const stored = JSON.parse(json) as StoredNote
  const common: CommonNote = {
    lineage: stored.lineage,
    hasMovedRecords: stored.hasMovedRecords ?? false,
    comparedIncarnation: stored.store,
    storeAgainTo: stored.againTo,
    generation: stored.generation,
  }
  const { openTo, again: furtherTokens = 0, openedAtMs } = stored
  if (openTo === undefined) return { ...common, state: 'closed' }
  return { ...common, state: 'open', openTo, furtherTokens, openedAtMs }
}

export function writeSinkNote(note: SinkNote): string {
  const { lineage, hasMovedRecords, comparedIncarnation, storeAgainTo, generation } = note
  const open = note.state === 'open' ? note : undefined
  // JSON omits members that are undefined.
  const stored: StoredNote = {
    lineage,
    openTo: open?.openTo,
    store: comparedIncarnation,
    againTo: storeAgainTo,
    openedAtMs: open?.openedAtMs,
    ...(open !== undefined && open.furtherTokens > 0 ? { again: open.furtherTokens } : {}),
    ...(hasMovedRecords ? { hasMovedRecords } : {}),
    generation,
  }
  return `${storeAgainTo === undefined ? '' : storeAgainPrefix}${JSON.stringify(stored)}`
}

/**
 * Returns the insert token of a batch. The same batch always has the same token. `furtherToken` is 0 for its first token and counts
 * later ones.
 */
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
