import { distance } from 'fastest-levenshtein'

/** A name that differs in more than this share of its characters was not meant. */
const differenceMax = 0.4

/** Returns the known name that is spelled most like `name`, or undefined if none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.floor(name.length * differenceMax) + 1
  for (const candidate of known) {
    const difference = distance(name, candidate)
    if (difference >= least) continue
    least = difference
    nearest = candidate
  }
  return nearest
}
