/** Returns the fields that have a value. In JSON bodies, a missing field means "none". */
export function definedFields<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], null | undefined> } {
  const entries = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  return Object.fromEntries(entries) as ReturnType<typeof definedFields<Fields>>
}
