import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('equals a list of the entries that were set last, after any sequence of changes', () => {
  const keys = fc.integer({ min: 0, max: 40 }).map(String)
  const changes = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ set: keys }) },
      { weight: 1, arbitrary: fc.record({ delete: keys }) },
    ),
    { minLength: 1, maxLength: 500, size: 'max' },
  )
  fc.assert(
    fc.property(changes, fc.integer({ min: 1, max: 30 }), (sequence, entriesMax) => {
      const recent = new Recent<number>(entriesMax)
      let model: (readonly [key: string, value: number])[] = []
      for (const [value, change] of sequence.entries()) {
        if ('set' in change) {
          recent.set(change.set, value)
          const others = model.filter(([key]) => key !== change.set)
          model = [...others, [change.set, value] as const].slice(-entriesMax)
        } else {
          recent.delete(change.delete)
          model = model.filter(([key]) => key !== change.delete)
        }
        expect(recent.size).toBe(model.length)
      }
      for (let key = 0; key <= 40; key += 1) {
        const expected = model.find(([known]) => known === `${key}`)
        expect([recent.has(`${key}`), recent.get(`${key}`)]).toEqual([
          expected !== undefined,
          expected?.[1],
        ])
      }
    }),
  )
})
