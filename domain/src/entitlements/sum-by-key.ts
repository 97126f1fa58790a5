/** Returns the sum of the amounts of each key. */
export function sumByKey<Key>(counted: Iterable<ReadonlyMap<Key, bigint>>): Map<Key, bigint> {
  const sums = new Map<Key, bigint>()
  for (const amounts of counted) addByKey(sums, amounts)
  return sums
}

export function addByKey<Key>(sums: Map<Key, bigint>, amounts: ReadonlyMap<Key, bigint>): void {
  for (const [key, amount] of amounts) sums.set(key, (sums.get(key) ?? 0n) + amount)
}
