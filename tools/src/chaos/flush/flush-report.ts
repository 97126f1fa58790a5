import { quantile } from '../../load/statistics.ts'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { totalOf } from '../engines/engine-sums.ts'
import type { FlushOptions, FlushOutcome, Phase } from './run-flush.ts'

const differencesShown = 20

/** Returns 2 tables, the sums, and 1 line for each problem. */
export function flushText(
  { customers, rate, replayRecordsMax }: FlushOptions,
  outcome: FlushOutcome,
): string {
  const { before, meanwhile, after, differences } = outcome
  const source =
    replayRecordsMax === 0
      ? 'counts rebuilt from ClickHouse'
      : `counts rebuilt from the log if fewer than ${formatCount(replayRecordsMax)} records of a partition were stored, otherwise from ClickHouse`
  return [
    `FLUSHALL with ${formatCount(customers)} customers at ${formatCount(rate)} events/s offered; ${source} (TOLLGATE_REPLAY_RECORDS_MAX=${replayRecordsMax})`,
    '',
    formatTable(
      ['rebuilt', 'after'],
      [
        ['all published', seconds(outcome.publishedMs)],
        ['all counted', seconds(outcome.countedMs)],
        ['the first publication, without load, took', seconds(outcome.firstPublishedMs)],
      ],
    ),
    '',
    formatTable(
      ['phase', 'seconds', 'acked/s', 'events resent', 'limit checks answered', 'p50 ms', 'p99 ms'],
      [phaseRow('before', before), phaseRow('until rebuilt', meanwhile), phaseRow('after', after)],
    ),
    '',
    sumsText(outcome),
    ...differences.slice(0, differencesShown).map((line) => `! ${line}`),
    ...problemsOf(outcome).map((line) => `! ${line}`),
  ].join('\n')
}

export function isFlushExact(outcome: FlushOutcome): boolean {
  return outcome.differences.length === 0 && problemsOf(outcome).length === 0
}

function phaseRow(name: string, { load, limitChecks }: Phase): string[] {
  const { attempted, answered, answeredMs } = limitChecks
  return [
    name,
    load.seconds.toFixed(1),
    formatCount(Math.round(load.acked / load.seconds)),
    formatCount(load.resent),
    `${formatCount(answered)} of ${formatCount(attempted)}`,
    ...[0.5, 0.99].map((fraction) => quantile(answeredMs, fraction).toFixed(1)),
  ]
}

function sumsText({ sums, differences }: FlushOutcome): string {
  const { acked, counted, inRedis, stored, rolledUp } = totalOf(sums)
  const differing = differences.length
  return (
    `units: acked ${formatCount(acked)}, by limit checks ${formatCount(counted)}, in Redis ${formatCount(inRedis)}, ` +
    `in ClickHouse ${formatCount(stored)}, in its roll-up ${formatCount(rolledUp)}; ${formatCount(sums.length)} customers, ` +
    `each compared separately: ${differing === 0 ? 'exact' : `${formatCount(differing)} WRONG`}`
  )
}

/** Returns incorrect answers and refusals of valid requests. */
function problemsOf({ before, meanwhile, after }: FlushOutcome): string[] {
  return [before, meanwhile, after].flatMap(({ load, limitChecks }) => [
    ...limitChecks.problems,
    ...load.refusals,
  ])
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
