import { randomBytes } from 'node:crypto'
import { newReference, type ReferenceKind } from '@tollgate/schemas/references'

/** A reference that nothing else has. */
export function drawReference(kind: Exclude<ReferenceKind, 'usage'>): string {
  return newReference(kind, randomBytes)
}
