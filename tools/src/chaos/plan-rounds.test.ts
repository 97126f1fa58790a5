import { expect, test } from 'vitest'
import { services } from './faults.ts'
import { planRounds } from './plan-rounds.ts'

test('plans each fault the requested number of times, in an order that the seed determines', () => {
  const sizes = { rounds: 5, singles: 3, starts: 6, stops: 2, copies: 4, damages: 1 }
  const rounds = planRounds(sizes, 7)
  const times = (name: string): number => rounds.filter((each) => each === name).length
  expect(rounds).toHaveLength(5 + 3 * services.length + 6 + 2 + 4 + 1)
  expect(rounds[0]).toBe('tree')
  expect(services.map(times)).toEqual(services.map(() => 3))
  expect(['tree', 'kills during start', 'counters stopped'].map(times)).toEqual([5, 6, 2])
  expect(['older ClickHouse', 'damaged segment'].map(times)).toEqual([4, 1])
  expect(planRounds(sizes, 7)).toEqual(rounds)
  expect(planRounds(sizes, 8)).not.toEqual(rounds)
})
