import { Command } from 'commander'
import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { findFreePort } from '@tollgate/deploy/standalone/ports'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { wholeNumber } from '../terminal/whole-number.ts'
import { runEngineChaosCommand, type EngineChaosFlags } from './engines/chaos-command.ts'
import { faultNames as engineFaultNames } from './engines/faults.ts'
import { faultNames } from './faults.ts'
import { runFlushCommand, type FlushFlags } from './flush/flush-command.ts'
import { planRounds, type PlanSizes } from './plan-rounds.ts'
import { SumsUnreadableError } from './read-sums.ts'
import { roundLine, summary } from './report.ts'
import { runChaos } from './run-chaos.ts'

type Options = EngineChaosFlags &
  FlushFlags &
  PlanSizes & {
    readonly engines: boolean
    readonly flush: boolean
    readonly keep: boolean
  }

/** The user interrupted the run. This is not a failure of the tested installation. */
class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

const program = new Command('npm run chaos --')
  .description(
    'Kill and damage a temporary installation at random moments under load, then compare what was acknowledged, counted and stored.',
  )
  .option(
    '--engines',
    'Run on three Kafka brokers, Redis, PostgreSQL and ClickHouse, and kill those too',
    false,
  )
  .option(
    '-r, --rounds <count>',
    'Kills of the whole process tree; with --engines, faults of all kinds',
    wholeNumber(0, 10_000),
    50,
  )
  .option(
    '-s, --singles <count>',
    'Without --engines: kills of single services',
    wholeNumber(0, 10_000),
    35,
  )
  .option(
    '--starts <count>',
    'Without --engines: starts in which processes are killed',
    wholeNumber(0, 10_000),
    60,
  )
  .option(
    '--stops <count>',
    'Without --engines: stops of the counters projection',
    wholeNumber(0, 1_000),
    2,
  )
  .option(
    '--copies <count>',
    'Without --engines: restores of an older copy of ClickHouse',
    wholeNumber(0, 1_000),
    10,
  )
  .option(
    '--damages <count>',
    'Without --engines: times that a log segment is damaged and the hot state is lost',
    wholeNumber(0, 1_000),
    10,
  )
  .option(
    '--stopped <seconds>',
    'How long the counters projection is stopped, in seconds',
    wholeNumber(1, 3_600),
    60,
  )
  .option('-k, --kinds <names>', kindsHelp(), readKinds)
  .option(
    '--away <seconds>',
    'With --engines: how long ClickHouse is down, in seconds',
    wholeNumber(1, 3_600),
    120,
  )
  .option(
    '--flush',
    'With --engines: run one FLUSHALL under a steady load over many customers, and nothing else',
    false,
  )
  .option('--customers <count>', 'With --flush: customers', wholeNumber(2, 10_000_000), 100_000)
  .option('--rate <count>', 'With --flush: events per second', wholeNumber(100, 1_000_000), 5_000)
  .option(
    '--load <seconds>',
    'With --flush: load before FLUSHALL, in seconds',
    wholeNumber(1, 86_400),
    60,
  )
  .option(
    '--replay <records>',
    'With --flush: TOLLGATE_REPLAY_RECORDS_MAX; 0 rebuilds the counts from ClickHouse',
    wholeNumber(0, 1_000_000_000),
    0,
  )
  .option('-l, --lanes <count>', 'Concurrent clients', wholeNumber(2, 256), 16)
  .option(
    '--seed <number>',
    'Seed of the random moments: the same seed repeats them',
    wholeNumber(0, 2 ** 32 - 2),
    Date.now() % 2 ** 32,
  )
  .option(
    '--patience <seconds>',
    'How long sums may take to be read and to agree, in seconds',
    wholeNumber(1, 3_600),
    60,
  )
  .option('--keep', 'Keep the data folder and its logs', false)
program.parse()
const options = program.opts<Options>()
const unknown = options.kinds?.find((name) => !kindsOf(options.engines).includes(name))
if (unknown !== undefined) program.error(`error: unknown fault ${unknown}. See --help.`)
if (options.flush && !options.engines) program.error('error: --flush needs --engines')

const folder = await makeTemporaryFolder('chaos')
const again = `Repeat with --seed ${options.seed}; data and logs in ${folder.path}.`
console.log(`seed ${options.seed}, data in ${folder.path}`)

const signal = abortOnInterrupt()
try {
  const isExact = await runChosen()
  if (!isExact) console.log(again)
  else if (!options.keep) await folder.remove()
  process.exit(isExact ? 0 : 1)
} catch (error) {
  if (error instanceof InterruptedError) {
    await folder.remove()
    console.log('Interrupted. The data of the run is removed.')
    process.exit(130)
  }
  const isPlain = error instanceof SumsUnreadableError || error instanceof StartRefusedError
  console.log(isPlain ? error.message : error)
  console.log(again)
  process.exit(1)
}

/** Returns a signal that aborts with an InterruptedError at Ctrl-C. A second Ctrl-C ends the process as usual. */
function abortOnInterrupt(): AbortSignal {
  const interruption = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interruption.abort(new InterruptedError()))
  }
  return interruption.signal
}

function runChosen(): Promise<boolean> {
  if (options.flush) return runFlushCommand(options, folder, process.env, signal)
  if (options.engines) return runEngineChaosCommand(options, folder, process.env, signal)
  return runEmbedded()
}

function kindsOf(isOnEngines: boolean): readonly string[] {
  return isOnEngines ? engineFaultNames : faultNames
}

function kindsHelp(): string {
  return `Only these faults, in turn: ${faultNames.join(', ')}; with --engines: ${engineFaultNames.join(', ')}`
}

function readKinds(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}

async function runEmbedded(): Promise<boolean> {
  const { kinds, rounds: roundTotal, seed } = options
  const plan = kinds
    ? Array.from({ length: roundTotal }, (_, at) => kinds[at % kinds.length]!)
    : planRounds(options, seed)
  const rounds = await runChaos({
    instance: {
      dataDir: folder.path,
      port: await findFreePort(new Set()),
      environment: process.env,
    },
    seed,
    plan,
    lanes: options.lanes,
    customers: 8,
    countersStoppedMs: options.stopped * 1000,
    timeoutMs: options.patience * 1000,
    signal,
    onRound: (round, number) => console.log(roundLine(round, number)),
  })
  console.log(`\n${summary(rounds)}`)
  return rounds.every(({ isExact }) => isExact)
}
