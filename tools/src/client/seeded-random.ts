/** A repeatable random source (mulberry32), so that a run that found a problem can be repeated with its seed. */
export type SeededRandom = {
  /** Returns a number of at least 0 and less than 1. */
  fraction(): number
  /** Returns a whole number from `min` to `max`, both inclusive. */
  integer(min: number, max: number): number
  pick<Choice>(choices: readonly Choice[]): Choice
  chance(probability: number): boolean
  /** Returns the items in a random order. */
  shuffle<Item>(items: readonly Item[]): Item[]
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
    shuffle: (items) => {
      const left = [...items]
      return items.map(() => left.splice(integer(0, left.length - 1), 1)[0]!)
    },
  }
}
