import type { BodyFiles } from './bodies.ts'
import { compareServers, type ContestResult } from './compare-servers.ts'
import type { WrkLoad } from './wrk.ts'

/** URLs of both servers, and the duration of each load. */
export type Arena = {
  readonly ceilingUrl: string
  readonly baseUrl: string
  readonly key: string
  readonly files: BodyFiles
  readonly seconds: number
  readonly repeats: number
}

export type UsageContests = {
  readonly single64: ContestResult
  readonly single256: ContestResult
  readonly bulk: ContestResult
}

const usagePath = '/v1/sdk/usages'
const bulkConnections = 32
const limitConnections = 64

export async function contestUsage(arena: Arena): Promise<UsageContests> {
  return {
    single64: await contest(arena, '/nothing', usagePath, 'single', 64),
    single256: await contest(arena, '/nothing', usagePath, 'single', 256),
    bulk: await contest(arena, '/validate', `${usagePath}/bulk`, 'bulk', bulkConnections),
  }
}

export function contestLimits(arena: Arena): Promise<ContestResult> {
  return contest(arena, '/nothing', '/v1/sdk/limits', 'limits', limitConnections)
}

function contest(
  arena: Arena,
  ceilingPath: string,
  path: string,
  bodies: keyof BodyFiles,
  connections: number,
): Promise<ContestResult> {
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
