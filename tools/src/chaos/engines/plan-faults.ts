import type { SeededRandom } from '../../client/seeded-random.ts'
import { momentNames, stretchNames } from './faults.ts'

/**
 * Every kind once, then the short ones again and again, each time in another order. The long ones come when there is
 * something to make again.
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
