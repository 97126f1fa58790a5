import type { Mark } from '@tollgate/platform/hot-state/hot-state'
import type { EventRecord } from './decoded-batch.ts'

/** The mark each keyed record of a batch would set: one per id, by the id's first record in the batch. */
export function marksWanted(events: readonly EventRecord[]): Mark[] {
  const seen = new Set<string>()
  const marks: Mark[] = []
  for (const { offset, event } of events) {
    if (event.idempotencyKey === null || seen.has(event.id)) continue
    seen.add(event.id)
    marks.push({ id: event.id, offset, receivedAtMs: event.receivedAt })
  }
  return marks
}

export type FirstOffsets = {
  /** By id, for the keyed records only. */
  readonly byId: Map<string, number>
  /** The marks that were not there yet. */
  readonly missing: readonly Mark[]
}

/** Joins what the batch wants with what HotState knew (`known`, in the order of `wanted`): an older mark always wins. */
export function settleFirstOffsets(
  wanted: readonly Mark[],
  known: readonly (number | undefined)[],
): FirstOffsets {
  const byId = new Map<string, number>()
  const missing: Mark[] = []
  wanted.forEach((mark, index) => {
    const first = known[index]
    byId.set(mark.id, first ?? mark.offset)
    if (first === undefined) missing.push(mark)
  })
  return { byId, missing }
}
