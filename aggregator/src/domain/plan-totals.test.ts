import { describe, expect, it } from 'vitest'
import { rangesToTotal } from './plan-totals.ts'

type Bounds = readonly [fromOffset: number, toOffset: number]

function plan(
  position: number,
  start: number,
  size: number,
  totalled: readonly Bounds[],
): Bounds[] {
  const known = totalled.map(([fromOffset, toOffset]) => ({ fromOffset, toOffset }))
  return [...rangesToTotal(position, start, size, known)].map(
    ({ fromOffset, toOffset }) => [fromOffset, toOffset] as const,
  )
}

describe('rangesToTotal', () => {
  it.each<[string, number, number, readonly Bounds[], readonly Bounds[]]>([
    ['nothing before a range is complete', 9, 0, [], []],
    ['a range once the position has passed it', 10, 0, [], [[0, 10]]],
    [
      'the newest range first',
      35,
      0,
      [],
      [
        [20, 30],
        [10, 20],
        [0, 10],
      ],
    ],
    [
      'nothing if all have totals',
      25,
      0,
      [
        [10, 20],
        [0, 10],
      ],
      [],
    ],
    [
      'a gap between totals',
      40,
      0,
      [
        [30, 40],
        [10, 20],
      ],
      [
        [20, 30],
        [0, 10],
      ],
    ],
    ['no range that ends before the first stored record', 35, 20, [], [[20, 30]]],
    [
      'a range that begins before the first stored record',
      35,
      15,
      [],
      [
        [20, 30],
        [10, 20],
      ],
    ],
    [
      'what remains beside totals of another size',
      40,
      0,
      [
        [26, 33],
        [0, 13],
      ],
      [
        [33, 40],
        [20, 26],
        [13, 20],
      ],
    ],
  ])('returns %s', (_, position, start, totalled, expected) => {
    expect(plan(position, start, 10, totalled)).toEqual(expected)
  })
})
