import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { startInstance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { findFreePort } from '@tollgate/deploy/standalone/ports'
import { lagText } from './lag/lag-text.ts'
import { measureLag } from './lag/measure-lag.ts'
import { measureBilling } from './billing/measure-billing.ts'
import { startBenchEngines, type BenchEngines } from './engines/bench-engines.ts'
import { measureEngineCeilings } from './engines/engine-ceilings.ts'
import { brokerAddresses, measuredTopic } from './engines/measure-kafka.ts'
import { chargesText } from './charges/charges-text.ts'
import type { MeasuredServer } from './comparisons.ts'
import { pathFiguresOf } from './figures/figures.ts'
import { readConditions } from './figures/conditions.ts'
import { readRecordedFigures } from './figures/recorded-figures.ts'
import { refusalOf, reportFigures } from './figures/report-figures.ts'
import { measureCharges } from './charges/measure-charges.ts'
import { clientsText } from './kafka-clients/clients-text.ts'
import type { ClientRates } from './kafka-clients/measure-clients.ts'
import { codecsText, measureCodecs } from './kafka-clients/measure-codecs.ts'
import { billingText, engineCeilingsText, reportText } from './report.ts'
import { measureMcp } from './mcp/measure-mcp.ts'
import { mcpText } from './mcp/mcp-text.ts'
import { program, type Options } from './options.ts'
import { runBench } from './run-bench.ts'
import { reportWebhooks } from './webhooks/report-webhooks.ts'
import { reportConsole } from './console/report-console.ts'
import { reportStoredUsage } from './stored-usage/report-stored-usage.ts'
import { requireWrk } from './wrk.ts'

program.parse()

const options = program.opts<Options>()
const kind = options.engines ? 'engines' : 'embedded'
const hasFigures = options.write || options.compare
const recorded = hasFigures
  ? await readRecordedFigures().catch(({ message }: Error) => program.error(`error: ${message}`))
  : {}
const refusal = refusalOf(kind, options, recorded, process.env)
if (refusal !== undefined) program.error(`error: ${refusal}`)

const print = (line: string): void => console.log(line)
if (options.webhooks) {
  await reportWebhooks(options, print)
  process.exit()
}
const needsWrk =
  !options.billing && !options.behind && !options.mcp && !options.storedUsage && !options.console
if (needsWrk) await requireWrk()
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
    TOLLGATE_INGEST_WORKERS: String(options.workers),
    // Some measurements suspend processes to measure the others without them. The supervisor must not kill a suspended process.
    TOLLGATE_HUNG_AFTER_SECONDS: '86400',
  },
})
try {
  if (options.billing) await reportBilling()
  else if (options.behind) print(`\n${lagText(await measureLag(instance, options, print))}`)
  else if (options.mcp) await reportMcp()
  else if (options.charges) await reportCharges()
  else if (options.storedUsage) await reportStoredUsage(await instance.runFile(), options, print)
  else if (options.console) {
    await reportConsole(await instance.runFile(), instance.credentials, options, print)
  } else await reportAll()
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
  // The commit is read before the measurement, because the code may be changed during it.
  const conditions = hasFigures ? await readConditions(kind, options) : undefined
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
  if (conditions === undefined) return
  const figures = { ...conditions, paths: pathFiguresOf(result) }
  await reportFigures(kind, figures, recorded[kind], options, print)
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
