import { Command, InvalidArgumentError } from 'commander'
import { makeTemporaryFolder } from '../instance/temporary-folder.ts'
import { findFreePort } from '../standalone/ports.ts'
import { StartRefusedError } from '../standalone/start-refused.ts'
import { formatCount } from '../terminal/table.ts'
import { wholeNumber } from '../terminal/whole-number.ts'
import { runEngineChaosCommand, type EngineChaosFlags } from './engines/chaos-command.ts'
import { faultNames } from './engines/faults.ts'
import { runFlushCommand, type FlushFlags } from './flush/flush-command.ts'
import { InterruptedError, interruptible } from './interruption.ts'
import { SumsUnreadableError } from './read-sums.ts'
import { runChaos, type Round, type Victim } from './run-chaos.ts'

type Options = EngineChaosFlags &
  FlushFlags & {
    readonly engines: boolean
    readonly flush: boolean
    readonly singles: number
    readonly keep: boolean
  }

const singles = [
  'aggregator-counters',
  'aggregator-sink',
  'chdb-gateway',
  'ingest',
  'control-plane',
  'billing-runner',
  'webhook-dispatcher',
  'postgres',
]

const program = new Command('npm run chaos --')
  .description(
    'Hurts a temporary installation at random moments under load and compares acked, counted and stored.',
  )
  .option(
    '--engines',
    'on three Kafka brokers, Redis, PostgreSQL and ClickHouse, which are hurt as well',
    false,
  )
  .option(
    '-r, --rounds <count>',
    'kills of the whole process tree; with --engines, moments of all kinds',
    wholeNumber(0, 10_000),
    50,
  )
  .option(
    '-s, --singles <count>',
    'without --engines: kills of each service alone',
    wholeNumber(0, 10_000),
    5,
  )
  .option('-k, --kinds <names>', `with --engines, only: ${faultNames.join(', ')}`, readKinds)
  .option('--away <seconds>', 'with --engines: how long ClickHouse is', wholeNumber(1, 3_600), 120)
  .option(
    '--flush',
    'with --engines, instead: one FLUSHALL under a steady load over many customers',
    false,
  )
  .option('--customers <count>', 'with --flush', wholeNumber(2, 10_000_000), 100_000)
  .option('--rate <count>', 'with --flush: events a second', wholeNumber(100, 1_000_000), 5_000)
  .option('--load <seconds>', 'with --flush: before FLUSHALL', wholeNumber(1, 86_400), 60)
  .option(
    '--replay <records>',
    'with --flush: TOLLGATE_REPLAY_RECORDS_MAX; 0 has the counts made from ClickHouse',
    wholeNumber(0, 1_000_000_000),
    0,
  )
  .option('-l, --lanes <count>', 'clients at work at the same time', wholeNumber(2, 256), 16)
  .option(
    '--seed <number>',
    'repeats the moments of an earlier run',
    wholeNumber(0, 2 ** 32 - 2),
    Date.now() % 2 ** 32,
  )
  .option('--patience <seconds>', 'for sums to be read and to agree', wholeNumber(1, 3_600), 60)
  .option('--keep', 'keeps the data folder and its logs', false)
program.parse()
const options = program.opts<Options>()
if (options.flush && !options.engines) program.error('error: --flush needs --engines')

const folder = await makeTemporaryFolder('chaos')
const again = `Run again with --seed ${options.seed}; data and logs in ${folder.path}.`
console.log(`seed ${options.seed}, data in ${folder.path}`)

const signal = interruptible()
try {
  const isExact = await runChosen()
  if (!isExact) console.log(again)
  else if (!options.keep) await folder.remove()
  process.exit(isExact ? 0 : 1)
} catch (error) {
  if (error instanceof InterruptedError) {
    await folder.remove()
    console.log('Interrupted; nothing of it is left.')
    process.exit(130)
  }
  const isPlain = error instanceof SumsUnreadableError || error instanceof StartRefusedError
  console.log(isPlain ? error.message : error)
  console.log(again)
  process.exit(1)
}

function runChosen(): Promise<boolean> {
  if (options.flush) return runFlushCommand(options, folder, process.env, signal)
  if (options.engines) return runEngineChaosCommand(options, folder, process.env, signal)
  return runEmbedded()
}

function readKinds(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !faultNames.includes(name))
  if (unknown === undefined) return names
  throw new InvalidArgumentError(`There is no ${unknown}.`)
}

async function runEmbedded(): Promise<boolean> {
  const rounds = await runChaos({
    instance: {
      dataDir: folder.path,
      port: await findFreePort(new Set()),
      environment: process.env,
    },
    seed: options.seed,
    victims: victims(options),
    lanes: options.lanes,
    customers: 8,
    patienceMs: options.patience * 1000,
    signal,
    onRound: (round, number) => console.log(roundLine(round, number)),
  })
  const inexact = rounds.filter((round) => !round.isExact).length
  console.log(
    inexact === 0
      ? `${rounds.length} kills: acked = counted = stored, to the unit, every time.`
      : `${inexact} of ${rounds.length} kills left sums that differ.`,
  )
  return inexact === 0
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
