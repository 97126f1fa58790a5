/** The data was written by a newer release. Using it could damage it. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError'
}

/** Throws a NewerSchemaError if a migration was applied that this release does not know. */
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
