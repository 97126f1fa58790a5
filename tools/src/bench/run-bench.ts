import { createMeasuredProduct, type MeasuredProduct } from '../client/measured-product.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { Instance } from '../instance/instance.ts'
import { processOf } from '../instance/process-of.ts'
import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { comparePaths, type MeasuredServer, type PathResult } from './comparisons.ts'
import { measureManagement, type ManagementResult } from './measure-management.ts'
import {
  measureProjections,
  waitUntilCaughtUp,
  type ProjectionRate,
} from './measure-projections.ts'
import { limitPaths, usagePaths } from './paths.ts'
import { measureVisibility, type Visibility } from './measure-visibility.ts'

export const benchParts = ['data-plane', 'management'] as const
type BenchPart = (typeof benchParts)[number]

export type BenchOptions = {
  /** The part to measure. If absent, all parts are measured. */
  readonly only?: BenchPart
  readonly seconds: number
  /** Number of rounds. Each measures every path once. */
  readonly repeats: number
  readonly backlog: number
  /** Number of customers for the measurement of the management API. */
  readonly customers: number
}

export type BenchResult = {
  readonly dataPlane: DataPlaneResult | undefined
  readonly management: readonly ManagementResult[]
}

export type DataPlaneResult = {
  readonly limits: readonly PathResult[]
  readonly visibility: Visibility
  readonly usage: readonly PathResult[]
  /** Rates while all consumers of the log are stopped: the cost of ingest itself. */
  readonly usageAlone: readonly PathResult[]
  readonly counters: ProjectionRate
  readonly sink: ProjectionRate
}

/** The installation and client used by the measurements. */
type Bench = {
  readonly instance: Instance
  readonly client: TollgateClient
  readonly runFile: RunFile
  readonly product: MeasuredProduct
  readonly options: BenchOptions
  readonly print: (line: string) => void
}

const measuredCustomers = 100
const visibilitySamples = 500
const logConsumers = ['aggregator-counters', 'aggregator-sink', 'chdb-gateway']

/** Runs the benchmark. `processes` are the process ids of external stores, under the names of the embedded ones. */
export async function runBench(
  instance: Instance,
  processes: Readonly<Record<string, number>>,
  ceiling: MeasuredServer,
  folder: string,
  options: BenchOptions,
  print: (line: string) => void,
): Promise<BenchResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 16, timeoutMs: 60_000 })
  try {
    const product = await createMeasuredProduct(client, Date.now().toString(36), measuredCustomers)
    const found = await instance.runFile()
    const runFile = { ...found, processes: { ...processes, ...found.processes } }
    const bench = { instance, client, runFile, product, options, print }
    const { only } = options
    const dataPlane = only === 'management' ? undefined : await runDataPlane(bench, ceiling, folder)
    // The management API is measured last, because publishing so many customers would disturb the other measurements.
    return { dataPlane, management: only === 'data-plane' ? [] : await runManagement(bench) }
  } finally {
    client.close()
  }
}

async function runDataPlane(
  { instance, client, runFile, product, options, print }: Bench,
  ceiling: MeasuredServer,
  folder: string,
): Promise<DataPlaneResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const { productRef, customerRefs } = product
  // The first check of a customer creates the purchase, so it is not measured.
  for (const customerRef of customerRefs) await client.checkLimit(customerRef, productRef)
  const ours = { baseUrl, pid: processOf(runFile, 'ingest') }
  const setup = { ceiling, ours, key, product, folder, ...options }

  print('measuring limit checks ...')
  const limits = await comparePaths(limitPaths, setup)
  const [customerRef = ''] = customerRefs
  const visibility = await measureVisibility(client, productRef, customerRef, visibilitySamples)
  print('measuring usage calls ...')
  const usage = await comparePaths(usagePaths(), setup)
  print('measuring the projections ...')
  const backlog = { client, runFile, productRef, customerRefs, records: options.backlog }
  const projections = await measureProjections(backlog)
  print('measuring ingest alone ...')
  const pids = logConsumers.flatMap((name) => runFile.processes[name] ?? [])
  const alone = usagePaths('ingest alone: ')
  const usageAlone = await runWhileStopped(pids, () => comparePaths(alone, setup))
  return { limits, visibility, usage, usageAlone, ...projections }
}

async function runManagement({
  client,
  runFile,
  product,
  options,
  print,
}: Bench): Promise<ManagementResult[]> {
  print('measuring the management API ...')
  // The API does not answer for a customer whose usage is not counted yet.
  await waitUntilCaughtUp(runFile)
  const databaseUrl = runFile.environment['TOLLGATE_DATABASE_URL'] ?? ''
  const { productRef } = product
  return measureManagement({ client, databaseUrl, productRef, ...options, print })
}

async function runWhileStopped<Result>(
  pids: readonly number[],
  measure: () => Promise<Result>,
): Promise<Result> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    return await measure()
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
}
