import type { DecodedBatch } from '../domain/decoded-batch.ts'
import { marksWanted, settleFirstOffsets } from '../domain/first-offsets.ts'
import type { PartitionParts } from './partition-parts.ts'

const noOffsets: ReadonlyMap<string, number> = new Map()

/**
 * The first offset of every keyed id of the batch, or 'rebuilding' when HotState has lost its marks and the counters
 * have not yet made them again up to the batch.
 *
 * The counters projection is normally ahead and has set all marks, so the sink gives it a moment. If it is away, the
 * sink claims the missing ones itself: every id of a smaller offset has been claimed by one of the two, therefore an id
 * without a mark is used here for the first time. That reasoning needs marks that were never lost; the document
 * `memoryKey` tells, because it goes the same way as the marks do.
 */
export async function settleSinkMarks(
  parts: PartitionParts,
  batch: DecodedBatch,
  memory: string,
  countersWaitMs: number,
): Promise<ReadonlyMap<string, number> | 'rebuilding'> {
  const { hotState, environment, partition } = parts
  const wanted = marksWanted(batch.events)
  if (wanted.length === 0) return noOffsets
  if (!(await isMemoryWhole(parts, batch.fromOffset, memory))) return 'rebuilding'

  await waitForCounters(parts, batch.toOffset, countersWaitMs)
  const ids = wanted.map((mark) => mark.id)
  const known = await hotState.readMarks(environment, partition, ids)
  const { byId, missing } = settleFirstOffsets(wanted, known)
  if (missing.length === 0) return byId

  const settled = new Map(byId)
  const holders = await hotState.claimMarks(environment, partition, missing)
  missing.forEach((mark, index) => settled.set(mark.id, holders[index]!))
  return settled
}

async function isMemoryWhole(
  { hotState, environment, topic, partition }: PartitionParts,
  fromOffset: number,
  memory: string,
): Promise<boolean> {
  const memoryKey = `sink-memory/${topic}/${partition}`
  if ((await hotState.readDocument(memoryKey)) === memory) return true
  if ((await hotState.appliedOffset(environment, partition)) < fromOffset) return false
  await hotState.putDocument(memoryKey, memory)
  return true
}

async function waitForCounters(
  { hotState, environment, partition }: PartitionParts,
  toOffset: number,
  waitMs: number,
): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    if ((await hotState.appliedOffset(environment, partition)) >= toOffset) return
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return
    await hotState.waitForApply(leftMs)
  }
}
