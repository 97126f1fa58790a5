import type { BodyFiles } from './bodies.ts'
import { compareServers, type ComparisonResult } from './compare-servers.ts'
import type { WrkLoad } from './wrk.ts'

/** URLs of both servers, and the duration of each load. */
export type ComparisonSetup = {
  readonly ceilingUrl: string
  readonly baseUrl: string
  readonly key: string
  readonly files: BodyFiles
  readonly seconds: number
  readonly repeats: number
}

export type UsageComparisons = {
  readonly single64: ComparisonResult
  readonly single256: ComparisonResult
  readonly bulk: ComparisonResult
}

const usagePath = '/v1/sdk/usages'
const bulkConnections = 32
const limitConnections = 64

export async function compareUsage(setup: ComparisonSetup): Promise<UsageComparisons> {
  return {
    single64: await compareEndpoint(setup, '/nothing', usagePath, 'single', 64),
    single256: await compareEndpoint(setup, '/nothing', usagePath, 'single', 256),
    bulk: await compareEndpoint(setup, '/validate', `${usagePath}/bulk`, 'bulk', bulkConnections),
  }
}

export function compareLimits(setup: ComparisonSetup): Promise<ComparisonResult> {
  return compareEndpoint(setup, '/nothing', '/v1/sdk/limits', 'limits', limitConnections)
}

function compareEndpoint(
  setup: ComparisonSetup,
  ceilingPath: string,
  path: string,
  bodies: keyof BodyFiles,
  connections: number,
): Promise<ComparisonResult> {
  const load = (url: string): WrkLoad => ({
    url,
    bodiesFile: setup.files[bodies],
    key: setup.key,
    connections,
    seconds: setup.seconds,
  })
  const ceiling = load(`${setup.ceilingUrl}${ceilingPath}`)
  return compareServers({ ceiling, ours: load(`${setup.baseUrl}${path}`) }, setup.repeats)
}
