import { randomBytes } from 'node:crypto'
import { newReference, type DrawnKind } from '@tollgate/schemas/references'

/** A reference that nothing else has. */
export function drawReference(kind: DrawnKind): string {
  return newReference(kind, randomBytes)
}
