import { quantile } from '../../load/statistics.ts'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { totalOf } from '../engines/engine-sums.ts'
import type { FlushOptions, FlushOutcome, Stretch } from './run-flush.ts'

const differencesShown = 20

/** Returns 2 tables, the sums, and 1 line for each problem. */
export function flushText(
  { customers, rate, replayRecordsMax }: FlushOptions,
  outcome: FlushOutcome,
): string {
  const { before, meanwhile, after, differences } = outcome
  const source =
    replayRecordsMax === 0
      ? 'the counts made from ClickHouse'
      : `the log counted again where fewer than ${formatCount(replayRecordsMax)} records of a partition were stored, else ClickHouse`
  return [
    `FLUSHALL with ${formatCount(customers)} customers at ${formatCount(rate)} events/s offered; ${source} (TOLLGATE_REPLAY_RECORDS_MAX=${replayRecordsMax})`,
    '',
    formatTable(
      ['whole again', 'after'],
      [
        ['all published', seconds(outcome.publishedMs)],
        ['all counted', seconds(outcome.countedMs)],
        ['the first publication, without load, took', seconds(outcome.firstPublishedMs)],
      ],
    ),
    '',
    formatTable(
      [
        'stretch',
        'seconds',
        'acked/s',
        'events sent again',
        'limit checks answered',
        'p50 ms',
        'p99 ms',
      ],
      [
        stretchRow('before', before),
        stretchRow('until whole', meanwhile),
        stretchRow('after', after),
      ],
    ),
    '',
    sumsText(outcome),
    ...differences.slice(0, differencesShown).map((line) => `! ${line}`),
    ...untrueOf(outcome).map((line) => `! ${line}`),
  ].join('\n')
}

export function isFlushExact(outcome: FlushOutcome): boolean {
  return outcome.differences.length === 0 && untrueOf(outcome).length === 0
}

function stretchRow(name: string, { load, limitChecks }: Stretch): string[] {
  const { asked, answered, answeredMs } = limitChecks
  return [
    name,
    load.seconds.toFixed(1),
    formatCount(Math.round(load.acked / load.seconds)),
    formatCount(load.sentAgain),
    `${formatCount(answered)} of ${formatCount(asked)}`,
    ...[0.5, 0.99].map((fraction) => quantile(answeredMs, fraction).toFixed(1)),
  ]
}

function sumsText({ sums, differences }: FlushOutcome): string {
  const { acked, counted, inRedis, stored, rolledUp } = totalOf(sums)
  const differing = differences.length
  return (
    `units: acked ${formatCount(acked)}, by limit checks ${formatCount(counted)}, in Redis ${formatCount(inRedis)}, ` +
    `in ClickHouse ${formatCount(stored)}, in its roll-up ${formatCount(rolledUp)}; ${formatCount(sums.length)} customers, ` +
    `each compared by itself: ${differing === 0 ? 'exact' : `${formatCount(differing)} WRONG`}`
  )
}

/** Returns incorrect answers and refusals of valid requests. */
function untrueOf({ before, meanwhile, after }: FlushOutcome): string[] {
  return [before, meanwhile, after].flatMap(({ load, limitChecks }) => [
    ...limitChecks.untrue,
    ...load.refusals,
  ])
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
