import { createHash } from 'node:crypto'

/** Returns the hexadecimal SHA-256 of the parts. JSON keeps them apart, whatever is in them. */
export function digestOfParts(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
