import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RecentKeys } from './recent-keys.ts'

describe('recent keys', () => {
  it('are known only in their partition and environment', () => {
    const keys = new RecentKeys(10)
    keys.add('sandbox', 1, 'a', 5)
    expect(keys.has('sandbox', 1, 'a')).toBe(true)
    expect(keys.has('sandbox', 2, 'a')).toBe(false)
    expect(keys.has('live', 1, 'a')).toBe(false)
  })

  it('are forgotten once the counters projection has applied their offset, and not before', () => {
    const keys = new RecentKeys(10)
    keys.add('live', 0, 'a', 5)
    keys.add('live', 0, 'b', 6)
    keys.forgetApplied('live', 0, 5)
    expect(keys.size).toBe(2)
    keys.forgetApplied('live', 0, 6)
    expect([keys.has('live', 0, 'a'), keys.has('live', 0, 'b'), keys.size]).toEqual([
      false,
      true,
      1,
    ])
    keys.forgetApplied('live', 0, 100)
    expect(keys.size).toBe(0)
  })

  it('stay within the bound: the oldest key of the same or another partition is forgotten first', () => {
    const keys = new RecentKeys(3)
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) keys.add('live', 0, id, index)
    expect([keys.has('live', 0, 'a'), keys.has('live', 0, 'd'), keys.size]).toEqual([
      false,
      true,
      3,
    ])
    keys.add('live', 1, 'e', 0)
    expect([keys.has('live', 0, 'b'), keys.has('live', 1, 'e'), keys.size]).toEqual([
      false,
      true,
      3,
    ])
  })

  it('count once if they are added repeatedly', () => {
    const keys = new RecentKeys(3)
    keys.add('live', 0, 'a', 1)
    keys.add('live', 0, 'a', 2)
    expect(keys.size).toBe(1)
    keys.forgetApplied('live', 0, 2)
    expect(keys.size).toBe(0)
  })

  it('equal a list of the newest ids after any sequence of changes', () => {
    const changes = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.record({ add: fc.nat(6_000), partition: fc.nat(1) }) },
        { weight: 1, arbitrary: fc.record({ applied: fc.nat(6_000), partition: fc.nat(1) }) },
      ),
      { minLength: 1, maxLength: 6_000, size: 'max' },
    )
    fc.assert(
      fc.property(changes, fc.integer({ min: 1, max: 3_000 }), (sequence, idsMax) => {
        const keys = new RecentKeys(idsMax)
        let model: { readonly id: number; readonly partition: number; readonly offset: number }[] =
          []
        for (const [offset, change] of sequence.entries()) {
          const { partition } = change
          if ('add' in change) {
            const id = change.add
            keys.add('live', partition, `${id}`, offset)
            if (model.some((each) => each.id === id && each.partition === partition)) continue
            if (model.length === idsMax) {
              const own = model.findIndex((each) => each.partition === partition)
              const first = model.findIndex((each) => each.partition === 1 - partition)
              model.splice(own === -1 ? first : own, 1)
            }
            model.push({ id, partition, offset })
          } else {
            keys.forgetApplied('live', partition, change.applied)
            model = model.filter(
              (each) => each.partition !== partition || each.offset >= change.applied,
            )
          }
        }
        expect(keys.size).toBe(model.length)
        for (const { id, partition } of model)
          expect(keys.has('live', partition, `${id}`)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })
})
