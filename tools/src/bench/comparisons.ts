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

export async function compareUsage(arena: ComparisonSetup): Promise<UsageComparisons> {
  return {
    single64: await compareEndpoint(arena, '/nothing', usagePath, 'single', 64),
    single256: await compareEndpoint(arena, '/nothing', usagePath, 'single', 256),
    bulk: await compareEndpoint(arena, '/validate', `${usagePath}/bulk`, 'bulk', bulkConnections),
  }
}

export function compareLimits(arena: ComparisonSetup): Promise<ComparisonResult> {
  return compareEndpoint(arena, '/nothing', '/v1/sdk/limits', 'limits', limitConnections)
}

function compareEndpoint(
  arena: ComparisonSetup,
  ceilingPath: string,
  path: string,
  bodies: keyof BodyFiles,
  connections: number,
): Promise<ComparisonResult> {
  const load = (url: string): WrkLoad => ({
    url,
    bodiesFile: arena.files[bodies],
    key: arena.key,
    connections,
    seconds: arena.seconds,
  })
  const ceiling = load(`${arena.ceilingUrl}${ceilingPath}`)
  return compareServers({ ceiling, ours: load(`${arena.baseUrl}${path}`) }, arena.repeats)
}
