/** Longer names are no misspelling of ours, and comparing them takes time. */
const nameCharsMax = 64

/**
 * Returns the known name that `name` is most likely a misspelling of, regardless of case. Returns undefined if more than
 * a third of its characters would have to change.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameCharsMax) return undefined
  const ranked = known
    .map((each) => ({ each, edits: editsBetween(name.toLowerCase(), each.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits)
  const [nearest] = ranked
  return nearest !== undefined && nearest.edits <= Math.max(1, name.length / 3)
    ? nearest.each
    : undefined
}

/** The Levenshtein distance: insertions, deletions and replacements of one character each. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, char] of [...one].entries()) {
    const next = [at + 1]
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = row[to - 1]! + (char === other[to - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[to]! + 1, next[to - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}
