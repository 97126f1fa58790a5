import { expect, test } from 'vitest'
import { measureInRounds } from './rounds.ts'

test('measures every pair once per round, and begins every second round with the other half', async () => {
  const order: string[] = []
  const pairs = [
    { ceiling: 'ceiling of a', ours: 'a' },
    { ceiling: 'ceiling of b', ours: 'b' },
  ]
  const results = await measureInRounds(pairs, 3, (name) => {
    order.push(name)
    return Promise.resolve(`${name}, ${order.length}`)
  })
  const first = ['ceiling of a', 'a', 'ceiling of b', 'b']
  expect(order).toEqual([...first, 'a', 'ceiling of a', 'b', 'ceiling of b', ...first])
  expect(results[1]).toEqual([
    { ceiling: 'ceiling of b, 3', ours: 'b, 4' },
    { ceiling: 'ceiling of b, 8', ours: 'b, 7' },
    { ceiling: 'ceiling of b, 11', ours: 'b, 12' },
  ])
})
