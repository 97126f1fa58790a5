import type { Mark } from '@tollgate/platform/hot-state/hot-state'
import type { EventRecord } from './decoded-batch.ts'

/**
 * Returns the marks that the records of a batch need: one per id with an idempotency key, with the offset of its first record in
 * the batch.
 */
export function marksOfBatch(events: readonly EventRecord[]): Mark[] {
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
  /** First offsets by id, only of records with an idempotency key. */
  readonly byId: Map<string, number>
  /** The marks that did not exist yet. */
  readonly missing: readonly Mark[]
}

/**
 * Combines the marks that the batch needs with those in HotState (`known`, in the order of `wanted`). An existing mark has
 * precedence.
 */
export function resolveFirstOffsets(
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
