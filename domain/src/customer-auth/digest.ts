import { createHash } from 'node:crypto'

/** Returns the hexadecimal SHA-256 of the parts. The JSON encoding keeps the parts apart, whatever they contain. */
export function digestOfParts(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
