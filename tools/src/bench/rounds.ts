/** A value of Tollgate, and the same value of the ceiling that it is compared with. */
export type Pair<Value> = {
  readonly ceiling: Value
  readonly ours: Value
}

/**
 * Measures every pair once per round, so that a slow minute of the machine affects all of them. The halves of a pair are measured one
 * directly after the other, and every second round begins with the other half. Returns the rounds of each pair.
 */
export async function measureInRounds<Subject, Result>(
  pairs: readonly Pair<Subject>[],
  rounds: number,
  measure: (subject: Subject) => Promise<Result>,
): Promise<Pair<Result>[][]> {
  const results: Pair<Result>[][] = pairs.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, pair] of pairs.entries()) {
      if (round % 2 === 0) {
        const ceiling = await measure(pair.ceiling)
        results[at]!.push({ ceiling, ours: await measure(pair.ours) })
      } else {
        const ours = await measure(pair.ours)
        results[at]!.push({ ceiling: await measure(pair.ceiling), ours })
      }
    }
  }
  return results
}
