import { Command, Option } from 'commander'
import { wholeNumber, wholeNumbers } from '../terminal/whole-number.ts'
import { figuresFile, pageFile } from './figures/recorded-figures.ts'
import { benchParts, type BenchOptions } from './run-bench.ts'

export type Options = BenchOptions & {
  readonly engines: boolean
  readonly write: boolean
  readonly compare: boolean
  readonly brokers: string
  readonly workers: number
  readonly billing: boolean
  readonly due: readonly number[]
  readonly runners: readonly number[]
  readonly behind: boolean
  readonly callers: number
  readonly webhooks: boolean
  readonly deliveries: number
  readonly killedDeliveries: number
  readonly dispatchers: readonly number[]
  readonly mcp: boolean
  readonly charges: boolean
  readonly clients: number
  readonly callsPerSecond: number
  readonly storedUsage: boolean
  readonly console: boolean
  readonly records: number
  readonly customerRecords: number
  readonly totalsRange: number
}

/** Options of measurements that have no recorded figures. */
const otherMeasurements = [
  'billing',
  'behind',
  'webhooks',
  'charges',
  'mcp',
  'workers',
  'storedUsage',
  'console',
]
/** Defaults of a run whose figures are recorded or compared. */
const recorded = { seconds: 3, repeats: 5 }

export const program = new Command('npm run bench --')
  .description('Measure a temporary instance and compare it with the ceilings of this machine.')
  .option('-s, --seconds <seconds>', 'Length of each load, in seconds', wholeNumber(1, 120), 5)
  .option(
    '-r, --repeats <count>',
    'Rounds. Each measures every path once; the report shows medians',
    wholeNumber(1, 20),
    3,
  )
  .option(
    '-b, --backlog <records>',
    'Records in the backlog of the projections',
    wholeNumber(1_000, 5_000_000),
    300_000,
  )
  .option(
    '-c, --customers <count>',
    'Customers in the measurement of the management API, or with --console',
    wholeNumber(100, 1_000_000),
    100_000,
  )
  .addOption(new Option('--only <part>', 'Measure only this part').choices(benchParts))
  .option('--billing', 'Measure only how fast purchases are renewed', false)
  .option(
    '--due <counts>',
    'With --billing: purchases due in each run',
    wholeNumbers(1, 1_000_000),
    [1_000, 10_000, 100_000],
  )
  .option(
    '--runners <counts>',
    'With --billing: runners that share a run, one measurement per number',
    wholeNumbers(1, 16),
    [1],
  )
  .option(
    '--behind',
    'Measure only limit checks while the counters lag by --backlog records',
    false,
  )
  .option('--callers <count>', 'With --behind: concurrent limit checks', wholeNumber(1, 5_000), 300)
  .option('--webhooks', 'Measure only how fast and how fairly webhooks are delivered', false)
  .option(
    '--deliveries <count>',
    'With --webhooks: deliveries queued for each measurement',
    wholeNumber(1_000, 1_000_000),
    50_000,
  )
  .option(
    '--killed-deliveries <count>',
    'With --webhooks: deliveries while dispatchers are killed',
    wholeNumber(1_000, 1_000_000),
    300_000,
  )
  .option(
    '--dispatchers <counts>',
    'With --webhooks: dispatchers that share the deliveries, one measurement per number',
    wholeNumbers(1, 16),
    [1, 2, 4],
  )
  .option(
    '--charges',
    'Measure only what an event with five charges costs beside one with one charge',
    false,
  )
  .option('--mcp', 'Measure only what the MCP proxy adds to a tool call', false)
  .option(
    '--clients <count>',
    'With --mcp: clients that send calls at fixed times',
    wholeNumber(1, 1_000),
    64,
  )
  .option(
    '--calls-per-second <count>',
    'With --mcp: calls per second of each client',
    wholeNumber(1, 1_000),
    5,
  )
  .option(
    '--stored-usage',
    'Measure only queries of the usage of one customer with millions of records in ClickHouse',
    false,
  )
  .option(
    '--console',
    "Measure only the console's Home and usage explorer over millions of records",
    false,
  )
  .option(
    '--records <count>',
    'With --stored-usage or --console: records in ClickHouse',
    wholeNumber(1_000, 10_000_000_000),
    100_000_000,
  )
  .option(
    '--customer-records <count>',
    'With --stored-usage: records of the customer that is queried',
    wholeNumber(1, 1_000_000_000),
    20_000_000,
  )
  .option(
    '--totals-range <records>',
    'With --stored-usage: TOLLGATE_USAGE_TOTALS_RANGE_RECORDS',
    wholeNumber(1, 1_000_000_000),
    1_048_576,
  )
  .option(
    '--engines',
    'Use Kafka, Redis, PostgreSQL and ClickHouse, and measure these engines too',
    false,
  )
  .addOption(
    new Option('--brokers <count>', 'With --engines: Kafka brokers, and replicas of the log')
      .choices(['1', '3'])
      .default('1'),
  )
  .option(
    '--workers <count>',
    'With --engines: ingest processes that share the port',
    wholeNumber(1, 64),
    1,
  )
  .addOption(
    new Option(
      '--write',
      `Record the figures in ${figuresFile} and ${pageFile}, from five rounds of three seconds`,
    )
      .default(false)
      .implies(recorded)
      .conflicts([...otherMeasurements, 'only']),
  )
  .addOption(
    new Option(
      '--compare',
      'Print the change of each ratio since the recorded figures, from five rounds of three seconds',
    )
      .default(false)
      .implies(recorded)
      .conflicts(otherMeasurements),
  )
