import type { DecodedBatch } from '../domain/decoded-batch.ts'
import { marksOfBatch, resolveFirstOffsets } from '../domain/first-offsets.ts'
import type { Partition } from './partition-parts.ts'

/**
 * Returns the first offset of every idempotency key of the batch by record id. Returns 'rebuilding' if HotState has lost marks and
 * the counters have not rebuilt them up to the batch yet.
 *
 * Normally the counters projection is ahead and has set all marks, so the sink first waits for it. If the counters do not advance,
 * the sink claims the missing marks itself. This is correct only if every id of a smaller offset has its mark, because only then an
 * id without a mark is used here for the first time. HotState therefore refuses a claim if it cannot be certain of that. An
 * existing mark is correct whatever else was lost.
 */
export async function claimSinkMarks(
  parts: Partition,
  batch: DecodedBatch,
  countersWaitMs: number,
): Promise<ReadonlyMap<string, number> | 'rebuilding'> {
  const { hotState, environment: space, partition } = parts
  const { fromOffset, toOffset } = batch
  const wanted = marksOfBatch(batch.events)
  const applied = await waitForApplied(parts, toOffset, wanted.length === 0 ? 0 : countersWaitMs)
  const ids = wanted.map((mark) => mark.id)
  const known = ids.length === 0 ? [] : await hotState.readMarks(space, partition, ids)
  const { byId, missing } = resolveFirstOffsets(wanted, known)
  if (missing.length === 0 && applied >= toOffset) return byId

  // The claim is also made if no mark is missing, because the next batch's claim must begin where this one ends.
  const claim = { space, partition, fromOffset, toOffset, marks: missing }
  const holders = await hotState.claimMarks(claim)
  if (holders === 'incomplete') return missing.length === 0 ? byId : 'rebuilding'
  missing.forEach((mark, index) => byId.set(mark.id, holders[index]!))
  return byId
}

/** Resolves with the counters' applied offset when it has reached `toOffset`, or after `waitMs`. */
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
