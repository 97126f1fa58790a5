import type { SeededRandom } from '../../client/seeded-random.ts'
import { momentNames, stretchNames } from './faults.ts'

/**
 * Returns every kind once, then the short kinds repeatedly, each time in another order. The long kinds come after some usage
 * exists, so that they have data to rebuild.
 */
export function planFaults(count: number, random: SeededRandom): string[] {
  const plan = [...shuffled(momentNames, random), ...shuffled(stretchNames, random)]
  while (plan.length < count) plan.push(...shuffled(momentNames, random))
  return plan.slice(0, count)
}

function shuffled(names: readonly string[], random: SeededRandom): string[] {
  const left = [...names]
  return names.map(() => left.splice(random.integer(0, left.length - 1), 1)[0]!)
}
