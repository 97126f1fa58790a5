/**
 * What the sink keeps beside its position in the log, for those who read what it has stored. `lineage` is a random name given with the first batch; it is in the insert
 * tokens, so that a log that starts again at offset 0 cannot meet tokens of its predecessor and have its rows dropped.
 * `openTo`, when present, is the end of the batch that starts at the position and may already be partly stored.
 */
export type SinkNote = {
  readonly lineage: string
  readonly openTo: number | undefined
  /** Whether the store has records that were moved there and were never in this log. */
  readonly hasMovedRecords: boolean
}

/** Undefined for the empty note of a position that no sink has touched. */
export function readSinkNote(text: string): SinkNote | undefined {
  if (text === '') return undefined
  const {
    lineage,
    openTo,
    hasMovedRecords = false,
  } = JSON.parse(text) as Partial<SinkNote> & {
    lineage: string
  }
  return { lineage, openTo, hasMovedRecords }
}

/** Of a position that no sink has touched. */
export function firstNote(lineage: string): SinkNote {
  return { lineage, openTo: undefined, hasMovedRecords: false }
}

export function writeSinkNote({ lineage, openTo, hasMovedRecords }: SinkNote): string {
  return JSON.stringify({ lineage, openTo, ...(hasMovedRecords ? { hasMovedRecords } : {}) })
}

/** The same batch has the same token, whoever inserts it and however often. */
export function insertToken(
  lineage: string,
  topic: string,
  partition: number,
  fromOffset: number,
  toOffset: number,
): string {
  return `${topic}-${partition}-${fromOffset}-${toOffset}-${lineage}`
}
