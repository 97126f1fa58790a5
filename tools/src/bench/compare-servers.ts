import { mediansOf } from '../load/statistics.ts'
import { runWrk, type WrkLoad, type WrkResult } from './wrk.ts'

export type Comparison = {
  readonly ceiling: WrkLoad
  readonly ours: WrkLoad
}

export type ComparisonResult = {
  readonly ceiling: WrkResult
  readonly ours: WrkResult
}

/** Runs both loads alternately, so that a slow moment of the machine affects both. Returns the medians. */
export async function compareServers(
  comparison: Comparison,
  repeats: number,
): Promise<ComparisonResult> {
  const ceiling: WrkResult[] = []
  const ours: WrkResult[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    ceiling.push(await runWrk(comparison.ceiling))
    ours.push(await runWrk(comparison.ours))
  }
  return { ceiling: medians(ceiling), ours: medians(ours) }
}

function medians(results: readonly WrkResult[]): WrkResult {
  return {
    ...mediansOf(results, ['requestsPerSecond', 'p50Ms', 'p99Ms', 'processorUs']),
    errors: results.reduce((sum, result) => sum + result.errors, 0),
  }
}
