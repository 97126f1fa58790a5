import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { hotKey, keySpaces } from './hot-keys.ts'

/*
 * The head of a partition: fence and number of the counts in use (u48, u32), number and next step of the shadow (u32 each, 0 for
 * none), the highest number of counts so far (u32), and the offset up to which marks are complete (u48, missing in heads of earlier
 * releases). Every key of counters and slots contains the number of its counts. A number is never reused; counts that no head names
 * are swept.
 */
export type PartitionHead = {
  readonly fence: number
  readonly inUse: number
  /** The counts that a restore is building. */
  readonly shadow: { readonly counts: number; readonly step: number } | undefined
  readonly lastCounts: number
  /** Every id of a record with a smaller offset has its mark. If this is behind the fence, the fence applies instead. */
  readonly marked: number
}

const headBytes = 28
const noShadow = 0

export function headKey(partition: Buffer): Buffer {
  return hotKey(keySpaces.head, partition)
}

export function readPartitionHead(store: LmdbStore, partition: Buffer): PartitionHead {
  const bytes = store.getBinaryFast(headKey(partition))
  if (bytes === undefined)
    return { fence: 0, inUse: 0, shadow: undefined, lastCounts: 0, marked: 0 }
  const shadow = bytes.readUInt32LE(10)
  return {
    ...readCountsInUse(bytes),
    shadow: shadow === noShadow ? undefined : { counts: shadow, step: bytes.readUInt32LE(14) },
    lastCounts: bytes.readUInt32LE(18),
    marked: bytes.length < headBytes ? 0 : bytes.readUIntLE(22, 6),
  }
}

/** Returns the part of a stored head that every limit check needs. */
export function readCountsInUse(bytes: Buffer | undefined): { fence: number; inUse: number } {
  if (bytes === undefined) return { fence: 0, inUse: 0 }
  return { fence: bytes.readUIntLE(0, 6), inUse: bytes.readUInt32LE(6) }
}

/** Writes the head. Call it inside a write transaction. */
export function writePartitionHead(store: LmdbStore, partition: Buffer, head: PartitionHead): void {
  const bytes = Buffer.allocUnsafeSlow(headBytes)
  bytes.writeUIntLE(head.fence, 0, 6)
  bytes.writeUInt32LE(head.inUse, 6)
  bytes.writeUInt32LE(head.shadow?.counts ?? noShadow, 10)
  bytes.writeUInt32LE(head.shadow?.step ?? 0, 14)
  bytes.writeUInt32LE(head.lastCounts, 18)
  bytes.writeUIntLE(head.marked, 22, 6)
  store.putSync(headKey(partition), bytes)
}

/** Returns the key part of these counts, which follows the key space byte. */
export function countsPart(partition: Buffer, counts: number): Buffer {
  const number = Buffer.allocUnsafe(countsNumberBytes)
  number.writeUInt32BE(counts)
  return Buffer.concat([partition, number])
}

export const countsNumberBytes = 4

/** Returns the number of the counts in use, followed by the shadow's if a restore is running. */
export function namedCounts({ inUse, shadow }: PartitionHead): number[] {
  return shadow === undefined ? [inUse] : [inUse, shadow.counts]
}
