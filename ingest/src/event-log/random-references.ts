import { randomFillSync } from 'node:crypto'
import { randomUsageReference, usageReferenceEntropyBytes } from '@tollgate/schemas/usage-reference'

/** Random bytes are read in bulk: a system call for ten bytes per event costs more than the rest of the reference. */
const poolBytes = 1024 * usageReferenceEntropyBytes

/** Returns a source of references for records without an idempotency key. */
export function createReferenceSource(): (nowMs: number) => string {
  const pool = new Uint8Array(poolBytes)
  let at = poolBytes
  return (nowMs) => {
    if (at === poolBytes) {
      randomFillSync(pool)
      at = 0
    }
    const reference = randomUsageReference(nowMs, pool, at)
    at += usageReferenceEntropyBytes
    return reference
  }
}
