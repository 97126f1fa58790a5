import { mediansOf, spreadOf, type Spread } from '../load/statistics.ts'
import { measureInRounds, type Pair } from './rounds.ts'
import { runWrk, type WrkLoad, type WrkResult } from './wrk.ts'

/** Medians over all rounds, and the ratios of ours to the ceiling within each round. */
export type ComparisonResult = Pair<WrkResult> & {
  /** Requests per second. */
  readonly throughput: Spread
  /** Processor time per request. */
  readonly processor: Spread
}

/** Runs the loads of each comparison alternately. */
export async function compareServers(
  comparisons: readonly Pair<WrkLoad>[],
  rounds: number,
): Promise<ComparisonResult[]> {
  return (await measureInRounds(comparisons, rounds, runWrk)).map(summarizeRounds)
}

export function summarizeRounds(rounds: readonly Pair<WrkResult>[]): ComparisonResult {
  const ratios = (member: 'requestsPerSecond' | 'processorUs'): Spread =>
    spreadOf(rounds.map(({ ceiling, ours }) => ours[member] / ceiling[member]))
  return {
    ceiling: medians(rounds.map(({ ceiling }) => ceiling)),
    ours: medians(rounds.map(({ ours }) => ours)),
    throughput: ratios('requestsPerSecond'),
    processor: ratios('processorUs'),
  }
}

function medians(results: readonly WrkResult[]): WrkResult {
  return {
    ...mediansOf(results, ['requestsPerSecond', 'p50Ms', 'p99Ms', 'processorUs']),
    errors: results.reduce((sum, result) => sum + result.errors, 0),
  }
}
