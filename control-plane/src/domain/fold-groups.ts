/** A sum as the store returns it: decimal text. */
type Group = { readonly key: string; readonly total: string; readonly count: number }

type Known = ReadonlyMap<string, { readonly reference: string; readonly name?: string }>

export type FoldedGroup = {
  readonly reference: string
  readonly name?: string
  readonly value: number
  readonly count: number
}

/** Merges groups whose keys belong to the same object, for display. The group with the largest total comes first. */
export function foldGroups(groups: readonly Group[], known: Known): FoldedGroup[] {
  const folded = new Map<string, FoldedGroup>()
  for (const { key, total, count } of groups) {
    const { reference, name } = known.get(key) ?? { reference: key }
    const before = folded.get(reference)
    folded.set(reference, {
      reference,
      ...(name === undefined ? {} : { name }),
      value: (before?.value ?? 0) + Number(total),
      count: (before?.count ?? 0) + count,
    })
  }
  return [...folded.values()].sort((a, b) => b.value - a.value)
}
