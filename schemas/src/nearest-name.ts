import leven from 'leven'

/** Longer names are not a misspelling of a known name, and comparing them takes time. */
const nameCharsMax = 64

/** Returns the known name that `given` most likely misspells, or undefined if none is similar. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > nameCharsMax) return undefined
  const plain = plainOf(given)
  let nearest: string | undefined
  // One error per 3 characters is allowed. Otherwise every short name would be similar to every other one.
  let least = Math.floor(plain.length / 3) + 1
  for (const name of known) {
    const distance = leven(plain, plainOf(name))
    if (distance < least) [nearest, least] = [name, distance]
  }
  return nearest
}

/** Removes differences of spelling: `customer_ref` and `CustomerRef` both match `customerRef`. */
function plainOf(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
