import { createSeededRandom, type SeededRandom } from '../../client/seeded-random.ts'
import type { TemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { unlessAborted } from '@tollgate/platform/waiting/unless-aborted'
import { totalOf, type CustomerSums } from './engine-sums.ts'
import { shortFaultNames, longFaultNames } from './faults.ts'
import { isExact, roundText } from './report.ts'
import { startEngineChaos, type EngineRound } from './run-engine-chaos.ts'

export type EngineChaosFlags = {
  readonly rounds: number
  readonly kinds?: readonly string[]
  readonly seed: number
  readonly lanes: number
  readonly patience: number
  readonly away: number
  /** How long the counters are stopped, in seconds. */
  readonly stopped: number
}

const customers = 6

/** Runs the rounds and reports each, until the signal aborts. Returns true if all rounds were exact. */
export async function runEngineChaosCommand(
  flags: EngineChaosFlags,
  folder: TemporaryFolder,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<boolean> {
  const random = createSeededRandom(flags.seed)
  const plan = flags.kinds
    ? Array.from({ length: flags.rounds }, (_, at) => flags.kinds![at % flags.kinds!.length]!)
    : planFaults(flags.rounds, random)
  const print = (line: string): void => console.log(line)
  print('Log segments are not damaged, because Kafka checks its own segments and reads a replica.')
  const chaos = startEngineChaos({
    folder: folder.path,
    environment,
    seed: flags.seed,
    plan,
    lanes: flags.lanes,
    customers,
    timeoutMs: flags.patience * 1000,
    clickHouseAwayMs: flags.away * 1000,
    countersStoppedMs: flags.stopped * 1000,
    print,
    onFault: (fault, number) => print(`[${number}/${plan.length}] ${fault} ...`),
    onRound: (round, number) => print(roundText(round, number)),
  })
  try {
    const rounds = await unlessAborted(chaos.rounds, signal)
    print(`\n${summary(rounds)}\n${totals(rounds)}`)
    return rounds.every(isExact)
  } finally {
    await chaos.end()
  }
}

/**
 * Returns every kind once, then the short kinds repeatedly, each time in another order. The long kinds come after some usage
 * exists, so that they have data to rebuild.
 */
function planFaults(count: number, random: SeededRandom): string[] {
  const plan = [...random.shuffle(shortFaultNames), ...random.shuffle(longFaultNames)]
  while (plan.length < count) plan.push(...random.shuffle(shortFaultNames))
  return plan.slice(0, count)
}

/** Returns the sums at the end of the run. Records without keys may be stored although their answer was lost. */
function totals(rounds: readonly EngineRound[]): string {
  const last = rounds.at(-1)
  if (last === undefined) return 'No fault was caused.'
  const text = (sums: readonly CustomerSums[]): string => {
    const { sent, acked, counted, stored, sentRecords, ackedRecords, storedRecords } = totalOf(sums)
    const lost = Math.max(0, ackedRecords - storedRecords)
    const duplicated = Math.max(0, storedRecords - sentRecords)
    return (
      `sent ${formatCount(sent)}, acknowledged ${formatCount(acked)}, counters ${formatCount(counted)}, ` +
      `ClickHouse ${formatCount(stored)} units; lost ${formatCount(lost)}, duplicated ${formatCount(duplicated)}`
    )
  }
  const { sums, logged } = last
  const stored = totalOf(sums)
  return [
    `with keys: ${text(sums.filter(({ isKeyed }) => isKeyed))}`,
    `without keys: ${text(sums.filter(({ isKeyed }) => !isKeyed))}`,
    `all: log ${formatCount(logged.units)} units, ClickHouse ${formatCount(stored.stored)}; ` +
      `records ${formatCount(logged.records)} and ${formatCount(stored.storedRecords)}`,
  ].join('\n')
}

/** Returns the number of rounds and the worst values of each kind. */
function summary(rounds: readonly EngineRound[]): string {
  const kinds = [...new Set(rounds.map(({ fault }) => fault))]
  return formatTable(
    ['kind', 'rounds', 'exact', 'longest time without an ack', 'limit checks answered meanwhile'],
    kinds.map((kind) => {
      const own = rounds.filter(({ fault }) => fault === kind)
      const gapMs = Math.max(...own.map(({ longestGapMs }) => longestGapMs))
      const attempted = own.reduce((sum, { limitChecks }) => sum + limitChecks.attempted, 0)
      const answered = own.reduce((sum, { limitChecks }) => sum + limitChecks.answered, 0)
      return [
        kind,
        String(own.length),
        String(own.filter(isExact).length),
        `${(gapMs / 1000).toFixed(1)} s`,
        attempted === 0 ? '' : `${((answered / attempted) * 100).toFixed(1)} %`,
      ]
    }),
  )
}
