import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { startInstance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { findFreePort } from '@tollgate/deploy/standalone/ports'
import { wholeNumber, wholeNumbers } from '../terminal/whole-number.ts'
import { lagText } from './lag/lag-text.ts'
import { measureLag } from './lag/measure-lag.ts'
import { measureBilling } from './billing/measure-billing.ts'
import { startBenchEngines, type BenchEngines } from './engines/bench-engines.ts'
import { measureEngineCeilings } from './engines/engine-ceilings.ts'
import { brokerAddresses, measuredTopic } from './engines/measure-kafka.ts'
import { chargesText } from './charges/charges-text.ts'
import type { MeasuredServer } from './comparisons.ts'
import { measureCharges } from './charges/measure-charges.ts'
import { clientsText } from './kafka-clients/clients-text.ts'
import type { ClientRates } from './kafka-clients/measure-clients.ts'
import { codecsText, measureCodecs } from './kafka-clients/measure-codecs.ts'
import { billingText, engineCeilingsText, reportText } from './report.ts'
import { measureMcp } from './mcp/measure-mcp.ts'
import { mcpText } from './mcp/mcp-text.ts'
import { benchParts, runBench, type BenchOptions } from './run-bench.ts'
import { reportWebhooks } from './webhooks/report-webhooks.ts'
import { requireWrk } from './wrk.ts'

type Options = BenchOptions & {
  readonly engines: boolean
  readonly brokers: string
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
}

const program = new Command('npm run bench --')
  .description('Measure a temporary instance and compare it with the ceilings of this machine.')
  .option('-s, --seconds <seconds>', 'Length of each load, in seconds', wholeNumber(1, 120), 5)
  .option(
    '-r, --repeats <count>',
    'Loads per server; the report shows medians',
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
    'Customers in the measurement of the management API',
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
    '--engines',
    'Use Kafka, Redis, PostgreSQL and ClickHouse, and measure these engines too',
    false,
  )
  .addOption(
    new Option('--brokers <count>', 'With --engines: Kafka brokers, and replicas of the log')
      .choices(['1', '3'])
      .default('1'),
  )
program.parse()

const options = program.opts<Options>()

const print = (line: string): void => console.log(line)
if (options.webhooks) {
  await reportWebhooks(options, print)
  process.exit()
}
if (!options.billing && !options.behind && !options.mcp) await requireWrk()
const folder = await makeTemporaryFolder('bench')
const engines = options.engines
  ? await startBenchEngines(`${folder.path}/engines`, Number(options.brokers), print)
  : undefined
const ceiling = await startCeiling()
const instance = await startInstance({
  dataDir: `${folder.path}/data`,
  port: await findFreePort(new Set()),
  environment: {
    ...process.env,
    ...engines?.environment,
    // Some measurements suspend processes to measure the others without them. The supervisor must not kill a suspended process.
    TOLLGATE_HUNG_AFTER_SECONDS: '86400',
  },
})
try {
  if (options.billing) await reportBilling()
  else if (options.behind) print(`\n${lagText(await measureLag(instance, options, print))}`)
  else if (options.mcp) await reportMcp()
  else if (options.charges) await reportCharges()
  else await reportAll()
} finally {
  ceiling.stop()
  await instance.stop()
  await engines?.stop()
  await folder.remove()
}

/** Starts the ceiling server in its own process, like Tollgate's server. */
async function startCeiling(): Promise<MeasuredServer & { stop(): void }> {
  const port = await findFreePort(new Set())
  const file = fileURLToPath(new URL('../../dist/bench/ceiling/main.js', import.meta.url))
  const child = fork(file, { env: { ...process.env, CEILING_PORT: String(port) } })
  await once(child, 'message')
  return { baseUrl: `http://127.0.0.1:${port}`, pid: child.pid!, stop: () => void child.kill() }
}

async function reportBilling(): Promise<void> {
  const { environment } = await instance.runFile()
  const { baseUrl, sandboxKey: key } = instance.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 16, timeoutMs: 60_000 })
  try {
    const { due, runners } = options
    const results = await measureBilling({ client, environment, due, runners, print })
    print(`\n${billingText(results)}`)
  } finally {
    client.close()
  }
}

async function reportCharges(): Promise<void> {
  print(`\n${chargesText(await measureCharges(instance, folder.path, options, print))}`)
}

async function reportMcp(): Promise<void> {
  const brokers = engines?.brokers
  const stopLog = brokers && (() => (signal(brokers, 'SIGSTOP'), () => signal(brokers, 'SIGCONT')))
  const result = await measureMcp(instance, { ...options, ...(stopLog && { stopLog }) }, print)
  print(`\n${mcpText(result)}`)
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) process.kill(pid, name)
}

async function reportAll(): Promise<void> {
  const processes = engines?.processes ?? {}
  const result = await runBench(instance, processes, ceiling, folder.path, options, print)
  const { dataPlane } = result
  const beside = engines && dataPlane && (await measureEnginesAlone(engines))
  print(`\n${reportText(result)}`)
  if (beside) {
    print(`\n${engineCeilingsText(dataPlane, beside.ceilings)}`)
    print(`\n${clientsText(beside.clients, beside.ceilings.kafkaRecordsPerSecond)}`)
    print(`\n${codecsText(measureCodecs())}`)
  }
}

async function measureEnginesAlone(engines: BenchEngines) {
  const ceilings = await measureEngineCeilings(engines, options.backlog, print)
  return { ceilings, clients: await measureKafkaClients(engines) }
}

/** Measures the Kafka clients. They are loaded dynamically, because the other clients are development dependencies. */
async function measureKafkaClients({ ports }: BenchEngines): Promise<ClientRates[]> {
  print('measuring Kafka clients ...')
  const { measureClients } = await import('./kafka-clients/measure-clients.ts')
  const { seconds, repeats, backlog: records } = options
  const brokers = brokerAddresses(ports.kafka)
  return measureClients({ ...measuredTopic, brokers, seconds, repeats, records })
}
