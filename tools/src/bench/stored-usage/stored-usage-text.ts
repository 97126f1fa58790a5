import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { StoredUsageResult } from './measure-stored-usage.ts'

/** Returns the report. */
export function storedUsageText(
  { queries, recordParts, totals }: StoredUsageResult,
  records: { readonly total: number; readonly ofCustomer: number },
): string {
  const mebibytes = (value: number | undefined): string =>
    value === undefined ? '' : formatCount(Math.round(value))
  return [
    `${formatCount(records.total)} records, ${formatCount(records.ofCustomer)} of the measured customer, in ${recordParts} parts`,
    formatTable(
      ['query of one customer', 'seconds', 'rows read', 'memory of ClickHouse, MiB'],
      queries.map(({ name, seconds, rowsRead, memoryMiB }) => [
        name,
        seconds.toFixed(3),
        formatCount(rowsRead),
        mebibytes(memoryMiB),
      ]),
    ),
    `totals of ${totals.ranges} ranges (${formatCount(totals.records)} records): ${totals.seconds.toFixed(1)} s, ` +
      `${formatCount(totals.rows)} rows, ${mebibytes(totals.memoryMiB)} MiB`,
  ].join('\n\n')
}
