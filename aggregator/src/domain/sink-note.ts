/**
 * What the sink keeps beside its position. `memory` is a random name that it also leaves in HotState: where HotState
 * no longer knows it, the marks behind the position are lost and must be rebuilt before new ones may be set. It is in
 * the insert tokens too, so that a log that starts again at offset 0 cannot meet tokens of its predecessor.
 * `openTo`, when present, is the end of the batch that starts at the position and may already be partly stored.
 */
export type SinkNote = {
  readonly memory: string
  readonly openTo: number | undefined
}

/** Undefined for the empty note of a position that no sink has touched. */
export function readSinkNote(text: string): SinkNote | undefined {
  if (text === '') return undefined
  const note = JSON.parse(text) as { memory: string; openTo?: number }
  return { memory: note.memory, openTo: note.openTo }
}

export function writeSinkNote(note: SinkNote): string {
  return JSON.stringify(note)
}

/** The same batch has the same token, whoever inserts it and however often. */
export function insertToken(
  memory: string,
  topic: string,
  partition: number,
  fromOffset: number,
  toOffset: number,
): string {
  return `${topic}-${partition}-${fromOffset}-${toOffset}-${memory}`
}
