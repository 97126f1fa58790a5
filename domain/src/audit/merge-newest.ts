import type { AuditEntry, AuditPlace } from './entry.ts'
import type { AuditPosition } from './repository.ts'

/** An entry and the place of its log. */
export type PlacedEntry = AuditEntry & { readonly place: AuditPlace }

/** Returns the newest entries of several logs, newest first, in the order of `AuditPosition`. */
export function mergeNewest(
  logs: readonly (readonly PlacedEntry[])[],
  rowsMax: number,
): PlacedEntry[] {
  return logs.flat().sort(newestFirst).slice(0, rowsMax)
}

function newestFirst(one: PlacedEntry, other: PlacedEntry): number {
  if (one.atMicros !== other.atMicros) return one.atMicros > other.atMicros ? -1 : 1
  if (one.place !== other.place) return one.place > other.place ? -1 : 1
  return one.id > other.id ? -1 : 1
}

export function positionOf({ atMicros, place, id }: PlacedEntry): AuditPosition {
  return { atMicros, place, id }
}
