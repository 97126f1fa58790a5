import { randomBytes } from 'node:crypto'
import { newReference, type DrawnKind } from '@tollgate/schemas/references'

/** Returns a unique reference. */
export function generateReference(kind: DrawnKind): string {
  return newReference(kind, randomBytes)
}
