/** The data was written by a later version of the program; going on could damage it. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError'
}

/** Throws when something was applied that this code does not know. */
export function refuseNewer(
  place: string,
  applied: readonly string[],
  known: readonly string[],
): void {
  const unknown = applied.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new NewerSchemaError(
    `The ${place} was written by a newer version of Tollgate (it has ${unknown.join(', ')}): start that version or a later one.`,
  )
}
