import { createTollgateClient } from '../client/tollgate-client.ts'
import { createMeasuredProduct } from '../client/measured-product.ts'
import type { Instance } from '../instance/instance.ts'
import { bulkSize, writeBodyFiles, type BodyFiles } from './bodies.ts'
import { compareServers, type ContestResult } from './compare-servers.ts'
import { measureProjections, type ProjectionRate } from './measure-projections.ts'
import { measureVisibility, type Visibility } from './measure-visibility.ts'
import type { WrkLoad } from './wrk.ts'

export type BenchOptions = {
  readonly seconds: number
  readonly repeats: number
  readonly backlog: number
}

export type BenchResult = {
  readonly single64: ContestResult
  readonly single256: ContestResult
  readonly bulk: ContestResult
  readonly limits: ContestResult
  readonly counters: ProjectionRate
  readonly sink: ProjectionRate
  readonly visibility: Visibility
}

const customers = 100
const visibilitySamples = 500
/** So many that the generator always has a next request to send, few enough that the p99 is not its own queue. */
const limitConnections = 64
const bulkConnections = 32

export async function runBench(
  instance: Instance,
  ceilingUrl: string,
  folder: string,
  options: BenchOptions,
  say: (line: string) => void,
): Promise<BenchResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 8, timeoutMs: 60_000 })
  try {
    const product = await createMeasuredProduct(client, Date.now().toString(36), customers)
    const { productRef, customerRefs } = product
    // The first check of a customer makes the purchase; it is not what is measured.
    for (const customerRef of customerRefs) await client.checkLimit(customerRef, productRef)
    const files = await writeBodyFiles(folder, productRef, customerRefs)
    const load = (url: string, bodiesFile: string, connections: number): WrkLoad => ({
      url,
      bodiesFile,
      key,
      connections,
      seconds: options.seconds,
    })
    const contest = (
      what: string,
      ceilingPath: string,
      path: string,
      file: keyof BodyFiles,
      connections: number,
    ): Promise<ContestResult> => {
      say(`measuring ${what} ...`)
      const ceiling = load(`${ceilingUrl}${ceilingPath}`, files[file], connections)
      const ours = load(`${baseUrl}${path}`, files[file], connections)
      return compareServers({ ceiling, ours }, options.repeats)
    }
    const limits = await contest(
      'limit checks',
      '/nothing',
      '/v1/sdk/limits',
      'limits',
      limitConnections,
    )
    const visibility = await measureVisibility(
      client,
      productRef,
      customerRefs[0]!,
      visibilitySamples,
    )
    const single64 = await contest('single events', '/nothing', '/v1/sdk/usages', 'single', 64)
    const single256 = await contest('single events', '/nothing', '/v1/sdk/usages', 'single', 256)
    const bulkPath = '/v1/sdk/usages/bulk'
    const bulk = await contest(
      `bulk of ${bulkSize}`,
      '/validate',
      bulkPath,
      'bulk',
      bulkConnections,
    )
    say('measuring the projections ...')
    const runFile = await instance.runFile()
    const backlog = { client, runFile, productRef, customerRefs, records: options.backlog }
    return { single64, single256, bulk, limits, visibility, ...(await measureProjections(backlog)) }
  } finally {
    client.close()
  }
}
