import { createSeededRandom } from '../client/seeded-random.ts'
import { services } from './faults.ts'

export type PlanSizes = {
  /** Number of kills of the whole process tree. */
  readonly rounds: number
  /** Number of kills of each single service. */
  readonly singles: number
  /** Number of starts during which processes are killed. */
  readonly starts: number
  readonly stops: number
  readonly copies: number
  readonly damages: number
}

/**
 * Returns the rounds of an embedded run, in an order that is the same for the same seed. The first one is a kill of the whole tree.
 */
export function planRounds(sizes: PlanSizes, seed: number): string[] {
  const times = (name: string, count: number): string[] => Array.from({ length: count }, () => name)
  const trees = times('tree', sizes.rounds)
  const first = trees.splice(0, 1)
  const rounds = [
    ...trees,
    ...services.flatMap((service) => times(service, sizes.singles)),
    ...times('kills during start', sizes.starts),
    ...times('counters stopped', sizes.stops),
    ...times('older ClickHouse', sizes.copies),
    ...times('damaged segment', sizes.damages),
  ]
  return [...first, ...createSeededRandom(seed).shuffle(rounds)]
}
