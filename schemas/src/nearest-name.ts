import leven from 'leven'

/** Longer names are no misspelling of ours, and comparing them takes time. */
const nameCharsMax = 64

/** Returns the known name that the given one is most likely a slip of, or undefined if none is near. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > nameCharsMax) return undefined
  const plain = plainOf(given)
  let nearest: string | undefined
  // One slip for every 3 characters: any short name would be near every other one.
  let least = Math.floor(plain.length / 3) + 1
  for (const name of known) {
    const distance = leven(plain, plainOf(name))
    if (distance < least) [nearest, least] = [name, distance]
  }
  return nearest
}

/** `customer_ref` and `CustomerRef` are spellings of `customerRef`. */
function plainOf(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
