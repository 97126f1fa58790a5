import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { BatchDecoder } from '../domain/decode-batch.ts'
import type { DecodedBatch, UnreadableRecord } from '../domain/decoded-batch.ts'
import { marksWanted, settleFirstOffsets } from '../domain/first-offsets.ts'
import { foldIncrements, type Fold } from '../domain/fold-increments.ts'
import { settledReservations } from '../domain/settled-reservations.ts'
import { checkPosition, type PartitionParts } from './partition-parts.ts'

export type CountersOutcome =
  | { readonly kind: 'idle' }
  | { readonly kind: 'fenced' }
  | {
      readonly kind: 'applied'
      readonly nextOffset: number
      readonly fold: Fold
      readonly unreadable: readonly UnreadableRecord[]
    }

/**
 * Counts one batch that starts at `position`. There is one effect that counts, and it comes after all reading:
 *
 *   read log [position, next) -> read marks -> fold
 *     -> HotState.apply(marks, increments, reservations kept here that end, fence position -> next)
 *     -> for each other partition: HotState.settleReservations(those that are kept there and end)
 *
 * Killed before the apply: nothing has changed and the same records are read again. Killed after it: the fence stands
 * at `next`. There is nothing between, because marks, counters and fence change in one step. What a kill leaves
 * unsettled in other partitions is held beside its own usage until it expires: too little is admitted, never too much.
 *
 * The marks may change between the read and the apply, by the sink's claims only. It claims for the first offset of an
 * id in the log, as this batch does, so the verdicts stay what they were.
 *
 * A zombie that comes back with an old position is refused by the fence ('fenced') and has changed nothing.
 */
export async function runCountersBatch(
  parts: PartitionParts,
  position: number,
): Promise<CountersOutcome> {
  const { log, topic, partition } = parts
  const head = await checkPosition(parts, position)
  if (position === head) return { kind: 'idle' }

  const decoder = new BatchDecoder(position)
  decoder.add(await log.read(topic, partition, position, parts.readLimits))
  const batch = decoder.finish()
  return parts.traceBatch('count', parts, batch, () => countBatch(parts, batch))
}

async function countBatch(parts: PartitionParts, batch: DecodedBatch): Promise<CountersOutcome> {
  const { log, hotState, environment, topic, partition } = parts
  const wanted = marksWanted(batch.events)
  const ids = wanted.map((mark) => mark.id)
  const known = ids.length === 0 ? [] : await hotState.readMarks(environment, partition, ids)
  const { byId, missing } = settleFirstOffsets(wanted, known)
  const fold = foldIncrements(batch.events, byId)
  const settled = settledReservations(batch.events, byId, partition, log.partitionCount(topic))

  const result = await hotState.apply({
    space: environment,
    partition,
    expectedOffset: batch.fromOffset,
    nextOffset: batch.toOffset,
    marks: missing,
    increments: fold.increments,
    settled: settled.get(partition) ?? [],
  })
  if (result === 'fenced') return { kind: 'fenced' }
  await settleElsewhere(parts, settled, batch.toOffset)
  return { kind: 'applied', nextOffset: batch.toOffset, fold, unreadable: batch.unreadable }
}

async function settleElsewhere(
  { hotState, environment, partition: countedPartition }: PartitionParts,
  settled: ReadonlyMap<number, readonly SettledReservation[]>,
  nextOffset: number,
): Promise<void> {
  const countedIn = { partition: countedPartition, nextOffset }
  for (const [partition, ofPartition] of settled) {
    if (partition === countedPartition) continue
    await hotState.settleReservations({
      space: environment,
      partition,
      settled: ofPartition,
      countedIn,
    })
  }
}
