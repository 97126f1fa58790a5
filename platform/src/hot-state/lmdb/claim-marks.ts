import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { MarkClaim } from '../hot-state.ts'
import { partitionPart } from './hot-keys.ts'
import { readMarks, setMissingMarks } from './marks.ts'
import { readPartitionHead, writePartitionHead } from './partition-head.ts'

/** Claims marks. Call it inside a write transaction. */
export function claimMarks(store: LmdbStore, claim: MarkClaim): readonly number[] | 'incomplete' {
  const { fromOffset, toOffset, marks } = claim
  const partition = partitionPart(claim.space, claim.partition)
  const head = readPartitionHead(store, partition)
  if (Math.max(head.fence, head.marked) < fromOffset) return 'incomplete'
  setMissingMarks(store, partition, marks)
  writePartitionHead(store, partition, { ...head, marked: Math.max(head.marked, toOffset) })
  const ids = marks.map(({ id }) => id)
  return readMarks(store, partition, ids).map((offset) => offset!)
}
