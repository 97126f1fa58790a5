import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import { marksWanted, settleFirstOffsets } from '../domain/first-offsets.ts'
import type { Partition } from './partition-parts.ts'

/**
 * The first offset of every keyed id of the batch, or 'rebuilding' when HotState has lost marks and the counters have
 * not yet made them again up to the batch.
 *
 * The counters projection is normally ahead and has set all marks, so the sink gives it a moment. If it is away, the
 * sink claims the missing ones itself. That is right only if every id of a smaller offset has its mark, because then an
 * id without one is used here for the first time. Two things say how far marks are complete: the counters' fence, and
 * the offset that the sink leaves in an entry after its own claims. The entry follows the claims into the same
 * partition, so whatever loses the marks, a wipe, a power cut or a failover, loses the entry with them.
 */
export async function settleSinkMarks(
  parts: Partition,
  batch: DecodedBatch,
  countersWaitMs: number,
): Promise<ReadonlyMap<string, number> | 'rebuilding'> {
  const { hotState, environment, partition } = parts
  const { fromOffset, toOffset } = batch
  const wanted = marksWanted(batch.events)
  await waitForCounters(parts, toOffset, wanted.length === 0 ? 0 : countersWaitMs)
  const ids = wanted.map((mark) => mark.id)
  const known = ids.length === 0 ? [] : await hotState.readMarks(environment, partition, ids)
  // Asked after the marks were read: if those had been lost by then, so had what says that they are complete.
  const applied = await hotState.appliedOffset(environment, partition)
  const isComplete = applied >= fromOffset || (await readClaimedOffset(parts)) >= fromOffset
  if (!isComplete && wanted.length > 0) return 'rebuilding'

  const { byId, missing } = settleFirstOffsets(wanted, known)
  if (missing.length > 0) {
    const holders = await hotState.claimMarks(environment, partition, missing)
    missing.forEach((mark, index) => byId.set(mark.id, holders[index]!))
  }
  if (isComplete && applied < toOffset) await markClaimsComplete(parts, toOffset)
  return byId
}

/** Says that every id of a smaller offset has its mark. To be called once it has. */
export async function markClaimsComplete(parts: Partition, offset: number): Promise<void> {
  const entry = { version: offset, document: `${offset}`, windows: [] }
  await parts.hotState.putEntry(claimsAddress(parts), entry)
}

/** Resolves when the counters' offset has reached `toOffset`, or when the time is up. */
async function waitForCounters(
  { hotState, environment, partition }: Partition,
  toOffset: number,
  waitMs: number,
): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const applied = await hotState.appliedOffset(environment, partition)
    const leftMs = deadline - performance.now()
    if (applied >= toOffset || leftMs <= 0) return
    await hotState.waitForApply(leftMs)
  }
}

async function readClaimedOffset(parts: Partition): Promise<number> {
  return Number((await parts.hotState.readEntryDocument(claimsAddress(parts))) ?? 0)
}

/** No customer's subject looks like this one. */
function claimsAddress({ environment, topic, partition }: Partition): EntryAddress {
  return { space: environment, partition, subject: `sink-claims/${topic}`, scope: '' }
}
