/** The input of an ordinary run. Any number does. */
const ordinarySeed = 34

export interface RandomRuns {
  readonly numRuns: number
  readonly seed: number
}

/**
 * Returns how many cases a random test plays, and from which seed. An ordinary run always plays the same cases, so no change is
 * refused for a case that its author could not have seen. New cases are drawn by a run whose size was asked for, and by every run
 * with `TOLLGATE_TEST_SEED=random`. The failure names the seed, and `TOLLGATE_TEST_SEED=<seed>` plays its cases again.
 */
export function randomRuns(ordinaryCount: number, askedCount?: string): RandomRuns {
  const askedSeed = process.env['TOLLGATE_TEST_SEED']
  const drawsNew = askedSeed === 'random' || (askedSeed === undefined && askedCount !== undefined)
  return {
    numRuns: Number(askedCount ?? ordinaryCount),
    seed: drawsNew ? Date.now() % 2 ** 31 : Number(askedSeed ?? ordinarySeed),
  }
}
