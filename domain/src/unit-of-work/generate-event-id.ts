import { randomBytes } from 'node:crypto'
import { referencePrefixes } from '@tollgate/schemas/references'
import { timeOrderedReference } from '@tollgate/schemas/usage-reference'

const tailBytes = 10
const countBytes = 3

let generatedCount = 0

/**
 * Returns a unique event id. Ids grow with time, to the millisecond. Ids drawn within one millisecond, for example in one
 * transaction, grow in the order in which this process draws them.
 */
export function generateEventId(now: Date): string {
  const tail = randomBytes(tailBytes)
  generatedCount = (generatedCount + 1) % 256 ** countBytes
  tail.writeUIntBE(generatedCount, 0, countBytes)
  return timeOrderedReference(referencePrefixes.webhookEvent, now.getTime(), tail)
}
