/** The seed of ordinary runs, which could be any other number. */
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
    numRuns: integerOf(askedCount ?? ordinaryCount),
    seed: drawsNew ? Date.now() % 2 ** 31 : integerOf(askedSeed ?? ordinarySeed),
  }
}

/** A setting that is empty or no number would play no case, and pass. */
function integerOf(setting: string | number): number {
  const number = Number.parseInt(String(setting), 10)
  if (String(number) !== String(setting)) throw new Error(`"${setting}" is not a whole number`)
  return number
}
