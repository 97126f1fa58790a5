import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { Round } from './run-chaos.ts'
import { doubleRecords, lostRecords, type Sums } from './sums.ts'

/** Returns 1 line, and 1 line for each incorrect answer. */
export function roundLine(round: Round, number: number): string {
  const { fault, detail, sums, limitChecks, untrue } = round
  const line = [
    String(number).padStart(3),
    (detail === '' ? fault : `${fault} (${detail})`).padEnd(32),
    `struck after ${String(round.struckAfterMs).padStart(5)} ms`,
    `all answered ${String(round.answeredAfterMs).padStart(6)} ms later`,
    `limit checks answered ${formatCount(limitChecks.answered)} of ${formatCount(limitChecks.asked)}`,
    unitsText(sums),
    round.isExact ? 'exact' : 'DIFFERS',
  ].join('  ')
  return [line, ...untrue.map((each) => `     ! ${each}`)].join('\n')
}

/** Returns the totals of the run and the sums at its end. */
export function summary(rounds: readonly Round[]): string {
  const last = rounds.at(-1)
  if (last === undefined) return 'Nothing was hurt.'
  const { sums, kills } = last
  const faults = [...new Set(rounds.map(({ fault }) => fault))]
  const rows = faults.map((fault) => {
    const own = rounds.filter((round) => round.fault === fault)
    return [fault, String(own.length), String(own.filter(({ isExact }) => isExact).length)]
  })
  const asked = rounds.reduce((sum, { limitChecks }) => sum + limitChecks.asked, 0)
  const answered = rounds.reduce((sum, { limitChecks }) => sum + limitChecks.answered, 0)
  const untrue = rounds.reduce((sum, round) => sum + round.untrue.length, 0)
  return [
    formatTable(['round', 'rounds', 'exact'], rows),
    `kills ${formatCount(kills)}, retries ${formatCount(last.retries)}; limit checks asked ${formatCount(asked)}, ` +
      `answered ${formatCount(answered)}, wrong ${formatCount(untrue)}`,
    unitsText(sums),
    `lost ${formatCount(lostRecords(sums))}, double ${formatCount(doubleRecords(sums))}`,
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
