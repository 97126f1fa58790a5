import { formatTable } from '@tollgate/platform/terminal/table'
import type { Spread } from '../../load/statistics.ts'
import { machineText } from '../machine.ts'
import type { Figures, PathFigures } from './figures.ts'
import { spreadText } from '../spread-text.ts'

/** How a ratio changed. Ranges that overlap show no change: another run of the same code may differ as much. */
type RatioChange = {
  readonly name: string
  readonly measure: 'processor time' | 'throughput'
  readonly before: Spread
  readonly now: Spread
  readonly percent: number
  readonly verdict: 'noise' | 'better' | 'worse'
}

export type FiguresComparison = {
  readonly changes: readonly RatioChange[]
  /** Conditions that differ, as whole lines. */
  readonly differences: readonly string[]
  readonly onlyBefore: readonly string[]
  readonly onlyNow: readonly string[]
}

/** Fewer rounds have a range that is too small to tell a change from noise. */
const roundsMin = 3
/** Load average per core from which other work disturbs the measurement. The start of the installation itself is below it. */
const busyShare = 0.5

export function compareFigures(before: Figures, now: Figures): FiguresComparison {
  const beforeByName = new Map(before.paths.map((path) => [path.name, path]))
  const namesNow = new Set(now.paths.map(({ name }) => name))
  return {
    changes: now.paths.flatMap((path) => {
      const old = beforeByName.get(path.name)
      return old === undefined ? [] : changesOf(old, path)
    }),
    differences: differencesOf(before, now),
    onlyBefore: [...beforeByName.keys()].filter((name) => !namesNow.has(name)),
    onlyNow: [...namesNow].filter((name) => !beforeByName.has(name)),
  }
}

function changesOf(before: PathFigures, now: PathFigures): RatioChange[] {
  const { name } = now
  const changes = [changeOf(name, 'throughput', before.perSecond.ratio, now.perSecond.ratio)]
  if (before.processorUs === undefined || now.processorUs === undefined) return changes
  const { ratio } = before.processorUs
  return [changeOf(name, 'processor time', ratio, now.processorUs.ratio), ...changes]
}

function changeOf(
  name: string,
  measure: RatioChange['measure'],
  before: Spread,
  now: Spread,
): RatioChange {
  const overlaps = before.min <= now.max && now.min <= before.max
  const isMore = now.median > before.median
  const isBetter = measure === 'throughput' ? isMore : !isMore
  return {
    name,
    measure,
    before,
    now,
    percent: (now.median / before.median - 1) * 100,
    verdict: overlaps ? 'noise' : isBetter ? 'better' : 'worse',
  }
}

function differencesOf(before: Figures, now: Figures): string[] {
  const lines: string[] = []
  const machines = [machineText(before.machine), machineText(now.machine)] as const
  if (machines[0] !== machines[1]) {
    lines.push(
      `Another machine: ${machines[0]} before, ${machines[1]} now. Changes also show the difference of the machines.`,
    )
  }
  if ([before, now].some(({ load, machine }) => load > busyShare * machine.cores)) {
    lines.push(
      `A busy machine: the load average was ${before.load} before and ${now.load} now. Repeat the measurement on a quiet one.`,
    )
  }
  const versions = differingEntries(before.versions, now.versions)
  if (versions !== '') lines.push(`Other versions: ${versions}.`)
  const options = differingEntries(before.options, now.options)
  if (options !== '') lines.push(`Other options: ${options}.`)
  const rounds = Math.min(before.options['rounds'] ?? 0, now.options['rounds'] ?? 0)
  if (rounds < roundsMin) {
    lines.push(
      `Fewer than ${roundsMin} rounds, before or now: the ranges are too small to tell a change from noise.`,
    )
  }
  return lines
}

function differingEntries(
  before: Readonly<Record<string, string | number>>,
  now: Readonly<Record<string, string | number>>,
): string {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => before[name] !== now[name])
    .map((name) => `${name} ${before[name] ?? 'absent'} before, ${now[name] ?? 'absent'} now`)
    .join('; ')
}

export function comparisonText(before: Figures, now: Figures): string {
  const { changes, differences, onlyBefore, onlyNow } = compareFigures(before, now)
  const version = before.versions['Tollgate'] ?? 'unknown'
  return [
    `Change since the recorded figures of ${before.date}, Tollgate ${version}, commit ${before.commit}. "Noise" means that the ranges overlap.`,
    ...differences,
    ...(changes.length === 0 ? ['No path was measured both times.'] : [changesTable(changes)]),
    ...(onlyBefore.length === 0 ? [] : [`Only measured before: ${onlyBefore.join('; ')}.`]),
    ...(onlyNow.length === 0 ? [] : [`Only measured now: ${onlyNow.join('; ')}.`]),
  ].join('\n\n')
}

function changesTable(changes: readonly RatioChange[]): string {
  return formatTable(
    ['path', 'ratio of', 'before', 'now', 'change', 'verdict'],
    changes.map(({ name, measure, before, now, percent, verdict }) => [
      name,
      measure,
      spreadText(before),
      spreadText(now),
      `${percent.toFixed(1)}%`,
      verdict,
    ]),
  )
}
