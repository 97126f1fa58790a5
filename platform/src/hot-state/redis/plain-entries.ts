import type { Entry, NamedEntry } from '../hot-state.ts'
import { takenIn } from '../taken-in.ts'
import { namePart } from './hot-names.ts'
import { firstEndText, laterWindowsAt, packWindows } from './windows-format.ts'

/** Returns the arguments of an entry for the script that publishes entries which need no folding. */
export function packPlainEntry(entry: NamedEntry): (string | Buffer)[] {
  const windows = packWindows(entry)
  const laterAt = laterWindowsAt(entry)
  return [
    namePart(entry.subject),
    namePart(entry.scope),
    entry.document,
    windows.subarray(0, laterAt),
    windows.subarray(laterAt),
    firstEndText(entry),
  ]
}

/** Returns whether a publication may change counts other than by folding slots. */
export function movesCounts({ endedReservations = [], windows }: Entry): boolean {
  return endedReservations.length > 0 || takenIn({ windows }).length > 0
}
