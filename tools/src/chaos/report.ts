import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { Round } from './run-chaos.ts'
import { duplicateRecords, lostRecords, type Sums } from './sums.ts'

/** Returns 1 line, and 1 line for each incorrect answer. */
export function roundLine(round: Round, number: number): string {
  const { fault, detail, sums, limitChecks, problems, chargedRecords, chargedDifferences } = round
  const line = [
    String(number).padStart(3),
    (detail === '' ? fault : `${fault} (${detail})`).padEnd(32),
    `fault after ${String(round.faultAfterMs).padStart(5)} ms`,
    `all answered ${String(round.answeredAfterMs).padStart(6)} ms later`,
    `limit checks answered ${formatCount(limitChecks.answered)} of ${formatCount(limitChecks.attempted)}`,
    unitsText(sums),
    `with several charges: ${formatCount(chargedRecords)} records`,
    round.isExact ? 'exact' : 'DIFFERS',
  ].join('  ')
  return [line, ...[...problems, ...chargedDifferences].map((each) => `     ! ${each}`)].join('\n')
}

/** Returns the totals of the run and the sums at its end. */
export function summary(rounds: readonly Round[]): string {
  const last = rounds.at(-1)
  if (last === undefined) return 'No fault was caused.'
  const { sums, kills } = last
  const faults = [...new Set(rounds.map(({ fault }) => fault))]
  const rows = faults.map((fault) => {
    const own = rounds.filter((round) => round.fault === fault)
    return [fault, String(own.length), String(own.filter(({ isExact }) => isExact).length)]
  })
  const attempted = rounds.reduce((sum, { limitChecks }) => sum + limitChecks.attempted, 0)
  const answered = rounds.reduce((sum, { limitChecks }) => sum + limitChecks.answered, 0)
  const problems = rounds.reduce((sum, round) => sum + round.problems.length, 0)
  return [
    formatTable(['round', 'rounds', 'exact'], rows),
    `kills ${formatCount(kills)}, retries ${formatCount(last.retries)}; limit checks attempted ${formatCount(attempted)}, ` +
      `answered ${formatCount(answered)}, wrong ${formatCount(problems)}`,
    unitsText(sums),
    `lost ${formatCount(lostRecords(sums))}, duplicated ${formatCount(duplicateRecords(sums))}`,
    `with several charges: ${formatCount(last.chargedRecords)} records, customers that differ: ${last.chargedDifferences.length}`,
  ].join('\n')
}

function unitsText(sums: Sums): string {
  const { sent, acked, logged, counted, stored } = sums
  const { sentRecords, ackedRecords, loggedRecords, storedRecords } = sums
  return (
    `units: sent ${formatCount(sent)}, acknowledged ${formatCount(acked)}, log ${formatCount(logged)}, ` +
    `counters ${formatCount(counted)}, ClickHouse ${formatCount(stored)}; records: sent ${formatCount(sentRecords)}, ` +
    `acknowledged ${formatCount(ackedRecords)}, log ${formatCount(loggedRecords)}, ClickHouse ${formatCount(storedRecords)}`
  )
}
