import { randomBytes } from 'node:crypto'
import { referencePrefixes } from '@tollgate/schemas/references'
import { timeOrderedReference } from '@tollgate/schemas/usage-reference'

const tailBytes = 10
const countBytes = 3

let drawn = 0

/**
 * An id of an event that nothing else has. Ids grow with time, to the millisecond, and where several are drawn in one, as
 * for one transaction, in the order in which this process draws them.
 */
export function drawEventId(now: Date): string {
  const tail = randomBytes(tailBytes)
  drawn = (drawn + 1) % 256 ** countBytes
  tail.writeUIntBE(drawn, 0, countBytes)
  return timeOrderedReference(referencePrefixes.webhookEvent, now.getTime(), tail)
}
