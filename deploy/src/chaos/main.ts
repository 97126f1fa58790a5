import { Command } from 'commander'
import { makeTemporaryFolder } from '../instance/temporary-folder.ts'
import { findFreePort } from '../standalone/ports.ts'
import { formatCount } from '../terminal/table.ts'
import { wholeNumber } from '../terminal/whole-number.ts'
import { SumsUnreadableError } from './read-sums.ts'
import { runChaos, type Round, type Victim } from './run-chaos.ts'

type Options = {
  rounds: number
  singles: number
  seed: number
  lanes: number
  patience: number
  keep: boolean
}

const singles = [
  'aggregator-counters',
  'aggregator-sink',
  'chdb-gateway',
  'ingest',
  'control-plane',
  'postgres',
]

const program = new Command('npm run chaos --')
  .description(
    'Kills a temporary instance at random moments under load and compares acked, counted and stored.',
  )
  .option('-r, --rounds <count>', 'kills of the whole process tree', wholeNumber(0, 10_000), 50)
  .option('-s, --singles <count>', 'kills of each service alone', wholeNumber(0, 10_000), 5)
  .option('-l, --lanes <count>', 'clients at work at the same time', wholeNumber(1, 256), 16)
  .option(
    '--seed <number>',
    'repeats the moments of an earlier run',
    wholeNumber(0, 2 ** 32 - 1),
    Date.now() % 2 ** 32,
  )
  .option('--patience <seconds>', 'for sums to be read and to agree', wholeNumber(1, 3_600), 60)
  .option('--keep', 'keeps the data folder and its logs', false)
program.parse()
const options = program.opts<Options>()

const folder = await makeTemporaryFolder('chaos')
const port = await findFreePort(new Set())
console.log(`seed ${options.seed}, data in ${folder.path}`)
try {
  await report(await run())
} catch (error) {
  if (!(error instanceof SumsUnreadableError)) throw error
  console.log(`${error.message}. Run again with --seed ${options.seed}; data in ${folder.path}.`)
  process.exitCode = 1
}

function run(): Promise<readonly Round[]> {
  return runChaos({
    instance: { dataDir: folder.path, port, environment: process.env },
    seed: options.seed,
    victims: victims(options),
    lanes: options.lanes,
    customers: 8,
    patienceMs: options.patience * 1000,
    onRound: (round, number) => console.log(roundLine(round, number)),
  })
}

async function report(rounds: readonly Round[]): Promise<void> {
  const inexact = rounds.filter((round) => !round.isExact).length
  console.log(
    inexact === 0
      ? `${rounds.length} kills: acked = counted = stored, to the unit, every time.`
      : `${inexact} of ${rounds.length} kills left sums that differ. Run again with --seed ${options.seed}; data in ${folder.path}.`,
  )
  if (inexact > 0) process.exitCode = 1
  else if (!options.keep) await folder.remove()
}

function victims({ rounds, singles: each }: Options): Victim[] {
  const alone = Array.from({ length: each }, () => singles).flat()
  return [...Array.from({ length: rounds }, () => 'tree'), ...alone]
}

function roundLine(round: Round, number: number): string {
  const { acked, counted, stored, storedRecords } = round.sums
  return [
    String(number).padStart(3),
    round.victim.padEnd(20),
    `killed after ${String(round.killedAfterMs).padStart(5)} ms`,
    `all answered ${String(round.answeredAfterMs).padStart(6)} ms later`,
    `retries ${formatCount(round.retries)}`,
    `acked ${formatCount(acked)} counted ${formatCount(counted)} stored ${formatCount(stored)} units (${formatCount(storedRecords)} records)`,
    round.isExact ? 'exact' : 'DIFFERS',
  ].join('  ')
}
