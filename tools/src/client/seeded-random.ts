/** A repeatable source of randomness (mulberry32): a run that found something can be run again from its seed. */
export type SeededRandom = {
  /** From 0 up to, not including, 1. */
  fraction(): number
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number
  pick<Choice>(choices: readonly Choice[]): Choice
  chance(probability: number): boolean
}

export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (min: number, max: number): number =>
    min + Math.floor(fraction() * (max - min + 1))
  return {
    fraction,
    integer,
    pick: (choices) => {
      const choice = choices[integer(0, choices.length - 1)]
      if (choice === undefined) throw new Error('Nothing to pick from')
      return choice
    },
    chance: (probability) => fraction() < probability,
  }
}
