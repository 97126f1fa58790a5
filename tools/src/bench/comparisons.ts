import type { BodyFiles } from './bodies.ts'
import { compareServers, type ComparisonResult } from './compare-servers.ts'
import type { WrkLoad } from './wrk.ts'

export type MeasuredServer = {
  readonly baseUrl: string
  readonly pid: number
}

/** Both servers, and the duration of each load. */
export type ComparisonSetup = {
  readonly ceiling: MeasuredServer
  readonly ours: MeasuredServer
  readonly key: string
  readonly files: BodyFiles
  readonly seconds: number
  readonly repeats: number
}

export type UsageComparisons = {
  readonly single64: ComparisonResult
  readonly single256: ComparisonResult
  readonly bulk: ComparisonResult
  /** The same loads for customers that the control plane does not know. */
  readonly unknown64: ComparisonResult
  readonly unknown256: ComparisonResult
  readonly unknownBulk: ComparisonResult
}

const usagePath = '/v1/sdk/usages'
const bulkConnections = 32
const limitConnections = 64

export async function compareUsage(setup: ComparisonSetup): Promise<UsageComparisons> {
  const single = (bodies: keyof BodyFiles, connections: number): Promise<ComparisonResult> =>
    compareEndpoint(setup, '/nothing', usagePath, bodies, connections)
  const bulk = (bodies: keyof BodyFiles): Promise<ComparisonResult> =>
    compareEndpoint(setup, '/validate', `${usagePath}/bulk`, bodies, bulkConnections)
  return {
    single64: await single('single', 64),
    single256: await single('single', 256),
    bulk: await bulk('bulk'),
    unknown64: await single('unknown', 64),
    unknown256: await single('unknown', 256),
    unknownBulk: await bulk('unknownBulk'),
  }
}

export function compareLimits(setup: ComparisonSetup): Promise<ComparisonResult> {
  return compareEndpoint(setup, '/nothing', '/v1/sdk/limits', 'limits', limitConnections)
}

function compareEndpoint(
  { ceiling, ours, files, key, seconds, repeats }: ComparisonSetup,
  ceilingPath: string,
  path: string,
  bodies: keyof BodyFiles,
  connections: number,
): Promise<ComparisonResult> {
  const load = ({ baseUrl, pid }: MeasuredServer, at: string): WrkLoad => ({
    ...{ url: `${baseUrl}${at}`, pid, bodiesFile: files[bodies], key, connections, seconds },
  })
  return compareServers({ ceiling: load(ceiling, ceilingPath), ours: load(ours, path) }, repeats)
}
