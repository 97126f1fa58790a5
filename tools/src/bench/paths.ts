import { bulkSize, type BodyShape } from './bodies.ts'

/** A path of the data plane, and the server that it is compared with. */
export type MeasuredPath = {
  readonly name: string
  readonly url: string
  readonly ceilingName: string
  readonly ceilingUrl: string
  readonly bodies: BodyShape
  readonly connections: number
  readonly recordsPerRequest: number
  /** The smallest ratio of rates in the budget. */
  readonly budget?: string
}

const plain = { isUnknown: false, isKeyed: false }
const bareServer = { ceilingName: 'bare uWS', ceilingUrl: '/nothing', recordsPerRequest: 1 }
const usageUrl = '/v1/sdk/usages'

export const single256: MeasuredPath = {
  ...bareServer,
  name: 'single, 256 connections',
  url: usageUrl,
  bodies: { ...plain, kind: 'single' },
  connections: 256,
  budget: '0.60',
}
const single64: MeasuredPath = {
  ...single256,
  name: 'single, 64 connections',
  connections: 64,
  budget: '0.40',
}
export const bulk: MeasuredPath = {
  name: `bulk of ${bulkSize}`,
  url: `${usageUrl}/bulk`,
  ceilingName: 'parse and validate',
  ceilingUrl: '/validate',
  bodies: { ...plain, kind: 'bulk' },
  connections: 32,
  recordsPerRequest: bulkSize,
  budget: '0.60',
}
export const limitCheck: MeasuredPath = {
  ...bareServer,
  name: 'limit check, 64 connections',
  url: '/v1/sdk/limits',
  bodies: { ...plain, kind: 'limits' },
  connections: 64,
  budget: '0.50',
}

const allUsage = [false, true].flatMap((isKeyed) =>
  [false, true].flatMap((isUnknown) =>
    [single256, single64, bulk].map((path) => varied(path, { isUnknown, isKeyed })),
  ),
)

/** The control plane refuses a check of a customer that does not exist. */
export const limitPaths = [limitCheck, varied(limitCheck, { isUnknown: true, isKeyed: false })]

/** Returns the paths that record usage: for known and unknown customers, without and with idempotency keys. */
export function usagePaths(prefix = ''): MeasuredPath[] {
  return allUsage.map((path) => ({ ...path, name: `${prefix}${path.name}` }))
}

/** A refused check and records with keys have no budget. */
function varied(
  { budget, ...path }: MeasuredPath,
  { isUnknown, isKeyed }: Omit<BodyShape, 'kind'>,
): MeasuredPath {
  const names = [path.name, isUnknown && 'unknown customers', isKeyed && 'keys']
  const hasBudget = !isKeyed && (!isUnknown || path.bodies.kind !== 'limits')
  return {
    ...path,
    name: names.filter(Boolean).join(', '),
    bodies: { ...path.bodies, isUnknown, isKeyed },
    ...(hasBudget && budget !== undefined && { budget }),
  }
}
