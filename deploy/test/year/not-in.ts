/** Returns the elements that occur more often in the first list than in the second. */
export function elementsMissingIn(these: readonly string[], those: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const each of those) left.set(each, (left.get(each) ?? 0) + 1)
  return these.filter((each) => {
    const count = left.get(each) ?? 0
    left.set(each, count - 1)
    return count <= 0
  })
}
