/** Values of a record by the names of its dimensions. */
type Dimensions = Readonly<Record<string, string>>

/** Returns whether a record has one of the values of each dimension that the filter names. */
export function passesFilter(
  where: Readonly<Record<string, readonly string[]>>,
  dimensions: Dimensions,
): boolean {
  for (const name in where) {
    const value = valueOf(dimensions, name)
    if (value === undefined || !where[name]!.includes(value)) return false
  }
  return true
}

/** Returns the index of the first row whose values the record has, or -1 if it has those of none. */
export function matchingRow(
  rows: readonly { readonly when: Dimensions }[],
  dimensions: Dimensions,
): number {
  return rows.findIndex(({ when }) => hasValues(dimensions, when))
}

function hasValues(dimensions: Dimensions, values: Dimensions): boolean {
  for (const name in values) if (valueOf(dimensions, name) !== values[name]) return false
  return true
}

/** The names of dimensions are chosen by providers, so they may be those of inherited members. */
function valueOf(dimensions: Dimensions, name: string): string | undefined {
  return Object.hasOwn(dimensions, name) ? dimensions[name] : undefined
}
