import type { Spread } from '../../load/statistics.ts'
import type { PathResult } from '../comparisons.ts'
import type { ManagementResult } from '../measure-management.ts'
import type { DataPlaneResult } from '../run-bench.ts'
import type { Conditions, Kind } from './conditions.ts'

/** The latest recorded figures of each kind of installation. */
export type RecordedFigures = { readonly [kind in Kind]?: Figures }

export type Figures = Conditions & { readonly paths: readonly PathFigures[] }

export type PathFigures = {
  readonly name: string
  readonly ceilingName: string
  /** Rates and processor times are given per unit. */
  readonly unit: 'request' | 'record'
  readonly perSecond: Compared
  /** Processor time of the process that answers. Undefined if the ceiling has no such process. */
  readonly processorUs?: Compared
  readonly failedRequests: number
}

/** Medians over the rounds, and the ratio of ours to the ceiling within each round. */
export type Compared = {
  readonly ceiling: number
  readonly ours: number
  readonly ratio: Spread
}

export function pathFiguresOf({
  dataPlane,
  management,
}: {
  readonly dataPlane: Pick<DataPlaneResult, 'usage' | 'usageAlone' | 'limits'> | undefined
  readonly management: readonly ManagementResult[]
}): PathFigures[] {
  const measured = dataPlane && [...dataPlane.usage, ...dataPlane.usageAlone, ...dataPlane.limits]
  return [...(measured ?? []).map(ofDataPlane), ...management.map(ofManagement)]
}

function ofDataPlane({ path, ceiling, ours, throughput, processor }: PathResult): PathFigures {
  const { name, ceilingName, recordsPerRequest } = path
  return {
    name,
    ceilingName,
    unit: recordsPerRequest === 1 ? 'request' : 'record',
    perSecond: {
      ceiling: Math.round(ceiling.requestsPerSecond * recordsPerRequest),
      ours: Math.round(ours.requestsPerSecond * recordsPerRequest),
      ratio: rounded(throughput),
    },
    processorUs: {
      ceiling: round(ceiling.processorUs / recordsPerRequest),
      ours: round(ours.processorUs / recordsPerRequest),
      ratio: rounded(processor),
    },
    failedRequests: ceiling.errors + ours.errors,
  }
}

/** A failed request ends the measurement of the management API, so none of those measured failed. */
function ofManagement({ name, ours, direct, throughput }: ManagementResult): PathFigures {
  return {
    name: `management API: ${name}`,
    ceilingName: 'PostgreSQL',
    unit: 'request',
    perSecond: {
      ceiling: Math.round(direct.perSecond),
      ours: Math.round(ours.perSecond),
      ratio: rounded(throughput),
    },
    failedRequests: 0,
  }
}

function rounded({ median, min, max }: Spread): Spread {
  return { median: round(median), min: round(min), max: round(max) }
}

/** The noise of any measurement is in earlier digits. */
function round(value: number): number {
  return Number(value.toPrecision(4))
}
