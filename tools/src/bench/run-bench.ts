import { createMeasuredProduct, type MeasuredProduct } from '../client/measured-product.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { Instance } from '../instance/instance.ts'
import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { writeBodyFiles } from './bodies.ts'
import type { ContestResult } from './compare-servers.ts'
import { contestLimits, contestUsage, type UsageContests } from './contests.ts'
import { measureManagement, type ManagementResult } from './measure-management.ts'
import { measureProjections, untilCaughtUp, type ProjectionRate } from './measure-projections.ts'
import { measureVisibility, type Visibility } from './measure-visibility.ts'

export const benchParts = ['data-plane', 'management'] as const
type BenchPart = (typeof benchParts)[number]

export type BenchOptions = {
  /** All parts where none is named. */
  readonly only?: BenchPart
  readonly seconds: number
  readonly repeats: number
  readonly backlog: number
  /** That the management API is asked about. */
  readonly customers: number
}

export type BenchResult = {
  readonly dataPlane: DataPlaneResult | undefined
  readonly management: readonly ManagementResult[]
}

export type DataPlaneResult = {
  readonly limits: ContestResult
  readonly visibility: Visibility
  readonly usage: UsageContests
  /** With everything behind the log stopped: what ingest costs by itself. */
  readonly usageAlone: UsageContests
  readonly counters: ProjectionRate
  readonly sink: ProjectionRate
}

/** What the measurements are made on. */
type Bench = {
  readonly instance: Instance
  readonly client: TollgateClient
  readonly runFile: RunFile
  readonly product: MeasuredProduct
  readonly options: BenchOptions
  readonly say: (line: string) => void
}

const measuredCustomers = 100
const visibilitySamples = 500
const behindTheLog = ['aggregator-counters', 'aggregator-sink', 'chdb-gateway']

/** `processes`: of stores that are not the instance's own, by the names that those have. */
export async function runBench(
  instance: Instance,
  processes: Readonly<Record<string, number>>,
  ceilingUrl: string,
  folder: string,
  options: BenchOptions,
  say: (line: string) => void,
): Promise<BenchResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 16, timeoutMs: 60_000 })
  try {
    const product = await createMeasuredProduct(client, Date.now().toString(36), measuredCustomers)
    const found = await instance.runFile()
    const runFile = { ...found, processes: { ...processes, ...found.processes } }
    const bench = { instance, client, runFile, product, options, say }
    const { only } = options
    const dataPlane =
      only === 'management' ? undefined : await runDataPlane(bench, ceilingUrl, folder)
    // Last: so many customers are published meanwhile.
    return { dataPlane, management: only === 'data-plane' ? [] : await runManagement(bench) }
  } finally {
    client.close()
  }
}

async function runDataPlane(
  { instance, client, runFile, product, options, say }: Bench,
  ceilingUrl: string,
  folder: string,
): Promise<DataPlaneResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const { productRef, customerRefs } = product
  // The first check of a customer makes the purchase; it is not what is measured.
  for (const customerRef of customerRefs) await client.checkLimit(customerRef, productRef)
  const files = await writeBodyFiles(folder, productRef, customerRefs)
  const arena = { ceilingUrl, baseUrl, key, files, ...options }

  say('measuring limit checks ...')
  const limits = await contestLimits(arena)
  const [customerRef = ''] = customerRefs
  const visibility = await measureVisibility(client, productRef, customerRef, visibilitySamples)
  say('measuring usage calls ...')
  const usage = await contestUsage(arena)
  say('measuring the projections ...')
  const backlog = { client, runFile, productRef, customerRefs, records: options.backlog }
  const projections = await measureProjections(backlog)
  say('measuring ingest alone ...')
  const pids = behindTheLog.flatMap((name) => runFile.processes[name] ?? [])
  const usageAlone = await whileStopped(pids, () => contestUsage(arena))
  return { limits, visibility, usage, usageAlone, ...projections }
}

async function runManagement({
  client,
  runFile,
  product,
  options,
  say,
}: Bench): Promise<ManagementResult[]> {
  say('measuring the management API ...')
  // Nothing is answered of a customer whose usage is not counted yet.
  await untilCaughtUp(runFile)
  const databaseUrl = runFile.environment['TOLLGATE_DATABASE_URL'] ?? ''
  const { productRef } = product
  return measureManagement({ client, databaseUrl, productRef, ...options, say })
}

async function whileStopped<Result>(
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
