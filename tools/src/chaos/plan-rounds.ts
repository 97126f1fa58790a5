import { createSeededRandom } from '../client/seeded-random.ts'
import { services } from './faults.ts'

export type PlanSizes = {
  /** Kills of the whole process tree. */
  readonly rounds: number
  /** Kills of each service alone. */
  readonly singles: number
  /** Starts in which processes are killed. */
  readonly starts: number
  readonly stops: number
  readonly copies: number
  readonly damages: number
}

/** Every round of an embedded run, in an order that the seed repeats. The first one is a kill of the whole tree. */
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
  const random = createSeededRandom(seed)
  const left = [...rounds]
  const shuffled = rounds.map(() => left.splice(random.integer(0, left.length - 1), 1)[0]!)
  return [...first, ...shuffled]
}
