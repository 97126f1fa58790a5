import { join } from 'node:path'
import type { MeasuredProduct } from '../client/measured-product.ts'
import { writeBodies } from './bodies.ts'
import { compareServers, type ComparisonResult } from './compare-servers.ts'
import type { MeasuredPath } from './paths.ts'
import type { Pair } from './rounds.ts'
import type { WrkLoad } from './wrk.ts'

export type MeasuredServer = {
  readonly baseUrl: string
  readonly pid: number
}

/** Both servers, what the bodies name, and the duration of each load. */
export type ComparisonSetup = Pair<MeasuredServer> & {
  readonly key: string
  readonly product: MeasuredProduct
  /** Folder for the bodies. */
  readonly folder: string
  readonly seconds: number
  readonly repeats: number
}

export type PathResult = ComparisonResult & { readonly path: MeasuredPath }

export async function comparePaths(
  paths: readonly MeasuredPath[],
  setup: ComparisonSetup,
): Promise<PathResult[]> {
  const pairs: Pair<WrkLoad>[] = []
  for (const path of paths) pairs.push(await loadsOf(path, setup))
  const results = await compareServers(pairs, setup.repeats)
  return results.map((result, at) => ({ ...result, path: paths[at]! }))
}

async function loadsOf(
  { bodies, url, ceilingUrl, connections }: MeasuredPath,
  { ceiling, ours, key, product, folder, seconds }: ComparisonSetup,
): Promise<Pair<WrkLoad>> {
  const { kind, isUnknown, isKeyed } = bodies
  const bodiesFile = join(folder, `${kind}-${isUnknown}-${isKeyed}.jsonl`)
  await writeBodies(bodiesFile, bodies, product)
  const load = { bodiesFile, key, connections, seconds }
  const isRefused = kind === 'limits' && isUnknown
  return {
    ceiling: { ...load, url: `${ceiling.baseUrl}${ceilingUrl}`, pid: ceiling.pid },
    ours: { ...load, url: `${ours.baseUrl}${url}`, pid: ours.pid, isRefused },
  }
}

/** Returns the result of one of the measured paths. */
export function resultOf(results: readonly PathResult[], { name }: MeasuredPath): PathResult {
  const found = results.find(({ path }) => path.name === name)
  if (found === undefined) throw new Error(`${name} was not measured`)
  return found
}
