import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { CounterBatch } from '../hot-state.ts'
import { CountChanges } from './count-changes.ts'
import { partitionPart } from './hot-keys.ts'
import { setMissingMarks } from './marks.ts'
import { readPartitionHead, writePartitionHead } from './partition-head.ts'
import type { SubjectRecords } from './subject-record.ts'

/**
 * Applies a batch. Call it inside a write transaction. All reads and computations come first, so an error there changes nothing.
 */
export function applyBatch(
  store: LmdbStore,
  subjects: SubjectRecords,
  batch: CounterBatch,
): 'applied' | 'fenced' {
  const partition = partitionPart(batch.space, batch.partition)
  const head = readPartitionHead(store, partition)
  if (head.fence !== batch.expectedOffset) return 'fenced'
  const changes = new CountChanges(store, subjects, partition, head.inUse)
  for (const increment of batch.increments) changes.add(increment)
  changes.write()
  setMissingMarks(store, partition, batch.marks)
  writePartitionHead(store, partition, { ...head, fence: batch.nextOffset })
  return 'applied'
}
