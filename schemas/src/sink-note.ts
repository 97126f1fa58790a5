/**
 * What the sink keeps beside its position in the log, for those who read what it has stored. `lineage` is a random name given with the first batch; it is in the insert
 * tokens, so that a log that starts again at offset 0 cannot meet tokens of its predecessor and have its rows dropped.
 * `openTo`, when present, is the end of the batch that starts at the position and may already be partly stored; `again`
 * is how many further tokens its rows may have been sent under since.
 */
export type SinkNote = {
  readonly lineage: string
  readonly openTo: number | undefined
  readonly again: number
  /** Whether the store has records that were moved there and were never in this log. */
  readonly hasMovedRecords: boolean
}

/** Undefined for the empty note of a position that no sink has touched. */
export function readSinkNote(text: string): SinkNote | undefined {
  if (text === '') return undefined
  const {
    lineage,
    openTo,
    again = 0,
    hasMovedRecords = false,
  } = JSON.parse(text) as Partial<SinkNote> & {
    lineage: string
  }
  return { lineage, openTo, again, hasMovedRecords }
}

/** Of a position that no sink has touched. */
export function firstNote(lineage: string): SinkNote {
  return { lineage, openTo: undefined, again: 0, hasMovedRecords: false }
}

export function writeSinkNote({ lineage, openTo, again, hasMovedRecords }: SinkNote): string {
  return JSON.stringify({
    lineage,
    openTo,
    ...(again > 0 ? { again } : {}),
    ...(hasMovedRecords ? { hasMovedRecords } : {}),
  })
}

/** The same batch has the same token, whoever inserts it and however often; `again` counts the further ones it got. */
export function insertToken(
  lineage: string,
  topic: string,
  partition: number,
  fromOffset: number,
  toOffset: number,
  again: number,
): string {
  const token = `${topic}-${partition}-${fromOffset}-${toOffset}-${lineage}`
  return again === 0 ? token : `${token}-again-${again}`
}
