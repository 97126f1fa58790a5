import type { DecodedBatch } from '../domain/decoded-batch.ts'
import { marksWanted, settleFirstOffsets } from '../domain/first-offsets.ts'
import type { Partition } from './partition-parts.ts'

/**
 * The first offset of every keyed id of the batch, or 'rebuilding' when HotState has lost marks and the counters have
 * not yet made them again up to the batch.
 *
 * The counters projection is normally ahead and has set all marks, so the sink gives it a moment. If it is away, the
 * sink claims the missing ones itself. That is right only if every id of a smaller offset has its mark, because then an
 * id without one is used here for the first time; so HotState refuses a claim of which it does not know that. A mark
 * that is there is right whatever else was lost.
 */
export async function settleSinkMarks(
  parts: Partition,
  batch: DecodedBatch,
  countersWaitMs: number,
): Promise<ReadonlyMap<string, number> | 'rebuilding'> {
  const { hotState, environment: space, partition } = parts
  const { fromOffset, toOffset } = batch
  const wanted = marksWanted(batch.events)
  const applied = await waitForApplied(parts, toOffset, wanted.length === 0 ? 0 : countersWaitMs)
  const ids = wanted.map((mark) => mark.id)
  const known = ids.length === 0 ? [] : await hotState.readMarks(space, partition, ids)
  const { byId, missing } = settleFirstOffsets(wanted, known)
  if (missing.length === 0 && applied >= toOffset) return byId

  // Also when nothing is missing: the next batch begins where this claim ends.
  const claim = { space, partition, fromOffset, toOffset, marks: missing }
  const holders = await hotState.claimMarks(claim)
  if (holders === 'incomplete') return missing.length === 0 ? byId : 'rebuilding'
  missing.forEach((mark, index) => byId.set(mark.id, holders[index]!))
  return byId
}

/** Resolves when the counters' offset has reached `toOffset`, or when the time is up, with that offset. */
async function waitForApplied(
  { hotState, environment, partition }: Partition,
  toOffset: number,
  waitMs: number,
): Promise<number> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const applied = await hotState.appliedOffset(environment, partition)
    const leftMs = deadline - performance.now()
    if (applied >= toOffset || leftMs <= 0) return applied
    await hotState.waitForApply(leftMs)
  }
}
