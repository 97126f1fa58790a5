import { isPlainObject } from '@tollgate/schemas/json-object'

/** Returns the same for values that differ only in the order of the members of objects, and something else for all others. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isPlainObject(value)) return value
  const names = Object.keys(value).sort()
  // Marked as an object: an array of pairs is something else.
  return { members: names.map((name) => [name, inOrder(value[name])]) }
}
