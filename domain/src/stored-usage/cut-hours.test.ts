import { expect, it } from 'vitest'
import { cutHours, summedWindow } from './cut-hours.ts'

const hour = 3_600
const at = 490_000 * hour

function cutSeconds(...windows: readonly (readonly [from: number, to: number])[]): number[][] {
  const summed = windows.map(([from, to]) =>
    summedWindow({ fromSecond: at + from, toSecond: at + to, meterName: undefined }),
  )
  return cutHours(summed).map(({ fromMs, toMs }) => [fromMs / 1_000 - at, toMs / 1_000 - at])
}

it.each<[string, readonly (readonly [number, number])[], number[][]]>([
  ['nothing of whole hours', [[0, 3 * hour]], []],
  [
    'the start and the end of a window',
    [[10, 3 * hour + 5]],
    [
      [10, hour],
      [3 * hour, 3 * hour + 5],
    ],
  ],
  ['only the start', [[10, 2 * hour]], [[10, hour]]],
  ['only the end', [[0, hour + 1]], [[hour, hour + 1]]],
  ['a window within an hour', [[10, 20]], [[10, 20]]],
  ['a window over a bound without a whole hour', [[hour - 1, hour + 1]], [[hour - 1, hour + 1]]],
  ['nothing of an empty window', [[10, 10]], []],
  [
    'each time once',
    [
      [10, hour],
      [10, hour],
    ],
    [[10, hour]],
  ],
])('cuts %s', (_, windows, expected) => {
  expect(cutSeconds(...windows)).toEqual(expected)
})
