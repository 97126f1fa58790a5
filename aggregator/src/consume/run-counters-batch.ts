import type { SettledReservation } from '@tollgate/platform/hot-state/reservations'
import { BatchDecoder } from '../domain/decode-batch.ts'
import type { DecodedBatch, UnreadableRecord } from '../domain/decoded-batch.ts'
import { marksOfBatch, resolveFirstOffsets } from '../domain/first-offsets.ts'
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
 * Counts one batch that starts at `position`. Exactly one effect changes counts, and it comes after all reads:
 *
 *  read log [position, next) -> read marks -> fold
 *    -> HotState.apply(marks, increments, ended reservations of this partition, fence position -> next)
 *    -> for each other partition: HotState.settleReservations(ended reservations of that partition)
 *
 * A crash before the apply leaves nothing changed, and the same records are read again. A crash after it leaves the fence at
 * `next`. There is no state in between, because marks, counters and fence change in one step. After a crash before the last
 * step, the next process reduces reservations in other partitions (repeat-parts.ts), and reservations that should have ended stay on
 * hold until they expire: too little usage is admitted, never too much.
 *
 * Between the read and the apply, only claims of the sink can change marks. The sink claims the first offset of an id in the log,
 * as this batch does, so the verdicts stay the same.
 *
 * The fence refuses a stale process that continues with an old position ('fenced'), and nothing changes.
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
  const wanted = marksOfBatch(batch.events)
  const ids = wanted.map((mark) => mark.id)
  const known = ids.length === 0 ? [] : await hotState.readMarks(environment, partition, ids)
  const { byId, missing } = resolveFirstOffsets(wanted, known)
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
  await settleInOtherPartitions(parts, settled, batch.toOffset)
  return { kind: 'applied', nextOffset: batch.toOffset, fold, unreadable: batch.unreadable }
}

/** Ends and reduces the reservations that other partitions hold. `nextOffset` is the offset up to which this one has counted. */
export async function settleInOtherPartitions(
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
