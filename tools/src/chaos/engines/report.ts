import { formatCount } from '@tollgate/platform/terminal/table'
import { totalOf, type CustomerSums } from './engine-sums.ts'
import type { EngineRound } from './run-engine-chaos.ts'

/** Returns 3 lines, and 1 line for each problem. */
export function roundText(round: EngineRound, number: number): string {
  const { attempted, answered } = round.limitChecks
  const ofKind = (isKeyed: boolean): readonly CustomerSums[] =>
    round.sums.filter((sums) => sums.isKeyed === isKeyed)
  return [
    `${String(number).padStart(3)}  ${round.fault}: ${round.detail}; ` +
      `usage without an ack for ${seconds(round.longestGapMs)} at most, all answered after ${seconds(round.answeredAfterMs)}, ` +
      `retries ${formatCount(round.retries)}; limit checks answered meanwhile ${share(answered, attempted)}`,
    `     with keys     ${sumsText(ofKind(true))}`,
    `     without keys  ${sumsText(ofKind(false))}  with several charges ${formatCount(round.chargedRecords)} records  ${isExact(round) ? 'exact' : 'WRONG'}`,
    ...[...round.differences, ...round.problems].map((line) => `     ! ${line}`),
  ].join('\n')
}

export function isExact(round: EngineRound): boolean {
  return round.differences.length === 0 && round.problems.length === 0
}

function sumsText(sums: readonly CustomerSums[]): string {
  const total = totalOf(sums)
  const { acked, sent, counted, queried, inRedis, stored, storedRecords } = total
  const sentText = sent === acked ? '' : ` sent ${formatCount(sent)}`
  return (
    `acked ${formatCount(acked)}${sentText} counted ${formatCount(counted)} queried ${formatCount(queried)} ` +
    `Redis ${formatCount(inRedis)} stored ${formatCount(stored)} units (${formatCount(storedRecords)} records)`
  )
}

function share(part: number, whole: number): string {
  if (whole === 0) return 'none attempted'
  return `${formatCount(part)} of ${formatCount(whole)} (${((part / whole) * 100).toFixed(1)} %)`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
