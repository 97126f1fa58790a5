import { expect, test } from 'vitest'
import { compareFigures, comparisonText } from './compare-figures.ts'
import type { Figures, PathFigures } from './figures.ts'

const spread = (median: number, min: number, max: number) => ({ median, min, max })

function pathOf(
  name: string,
  rates: ReturnType<typeof spread>,
  times?: ReturnType<typeof spread>,
): PathFigures {
  return {
    ...{ name, ceilingName: 'bare uWS', unit: 'request', failedRequests: 0 },
    perSecond: { ceiling: 100, ours: 50, ratio: rates },
    ...(times && { processorUs: { ceiling: 10, ours: 20, ratio: times } }),
  }
}

function figuresOf(paths: readonly PathFigures[], changes: Partial<Figures> = {}): Figures {
  return {
    ...{ date: '2026-11-27', commit: 'c8412a60af31', paths },
    ...{ machine: { processor: 'AMD EPYC', cores: 2, memoryGiB: 8 }, load: 0.2 },
    versions: { Tollgate: '0.1.0', Node: '24.1.0' },
    options: { rounds: 5, seconds: 3, customers: 100_000 },
    ...changes,
  }
}

const half = spread(0.5, 0.45, 0.55)

test('compares processor time, where less is better, and throughput, where more is', () => {
  const before = figuresOf([pathOf('single', half, spread(4, 3.9, 4.1))])
  const now = figuresOf([pathOf('single', spread(0.6, 0.56, 0.65), spread(5, 4.5, 5.5))])
  const { changes } = compareFigures(before, now)
  expect(changes.map(({ measure, percent, verdict }) => [measure, percent, verdict])).toEqual([
    ['processor time', 25, 'worse'],
    ['throughput', expect.closeTo(20), 'better'],
  ])
  const back = compareFigures(now, before).changes.map(({ verdict }) => verdict)
  expect(back).toEqual(['better', 'worse'])
})

test.each([
  ['the ranges overlap', spread(0.6, 0.55, 0.65), 'noise'],
  ['the range contains the other', spread(0.7, 0.4, 0.9), 'noise'],
  ['the range is above the other', spread(0.7, 0.551, 0.9), 'better'],
  ['the range is below the other', spread(0.4, 0.3, 0.449), 'worse'],
  ['nothing changed', half, 'noise'],
])('where %s', (_, rates, verdict) => {
  const { changes } = compareFigures(
    figuresOf([pathOf('single', half)]),
    figuresOf([pathOf('single', rates)]),
  )
  expect(changes.map((change) => change.verdict)).toEqual([verdict])
})

test('names the paths that only one of both has', () => {
  const before = figuresOf([pathOf('single', half), pathOf('gone', half)])
  const now = figuresOf([pathOf('new', half), pathOf('single', half)])
  const text = comparisonText(before, now)
  expect(compareFigures(before, now).changes).toHaveLength(1)
  expect(text).toContain('Only measured before: gone.')
  expect(text).toContain('Only measured now: new.')
})

test('says that no path was measured both times', () => {
  const text = comparisonText(figuresOf([pathOf('a', half)]), figuresOf([pathOf('b', half)]))
  expect(text).toContain('No path was measured both times.')
})

test('names each condition that differs', () => {
  const before = figuresOf([pathOf('single', half)])
  const now = figuresOf(before.paths, {
    ...{ machine: { processor: 'Intel Xeon', cores: 4, memoryGiB: 16 }, load: 2.1 },
    versions: { Tollgate: '0.1.0', Node: '24.2.0', Redis: '7.0.15' },
    options: { rounds: 2, seconds: 3, customers: 100_000 },
  })
  expect(compareFigures(before, before).differences).toEqual([])
  expect(compareFigures(before, now).differences).toEqual([
    'Another machine: 2 x AMD EPYC, 8 GiB before, 4 x Intel Xeon, 16 GiB now. Changes also show the difference of the machines.',
    'A busy machine: the load average was 0.2 before and 2.1 now. Repeat the measurement on a quiet one.',
    'Other versions: Node 24.1.0 before, 24.2.0 now; Redis absent before, 7.0.15 now.',
    'Other options: rounds 5 before, 2 now.',
    'Fewer than 3 rounds, before or now: the ranges are too small to tell a change from noise.',
  ])
})

test('prints each ratio before and now with its change', () => {
  const before = figuresOf([pathOf('single', half, spread(4, 3.9, 4.1))])
  const now = figuresOf([pathOf('single', spread(0.49, 0.4, 0.5), spread(3, 3, 3))])
  const [head, , ...rows] = comparisonText(before, now).split('\n')
  expect(head).toBe(
    'Change since the recorded figures of 2026-11-27, Tollgate 0.1.0, commit c8412a60af31. "Noise" means that the ranges overlap.',
  )
  const cells = rows.map((row) => row.split(/ {2,}/))
  expect(cells.at(-2)).toEqual([
    ...['single', 'processor time', '4.00 (3.90 to 4.10)', '3.00', '-25.0%', 'better'],
  ])
  expect(cells.at(-1)).toEqual([
    ...['single', 'throughput', '0.50 (0.45 to 0.55)', '0.49 (0.40 to 0.50)', '-2.0%', 'noise'],
  ])
})
