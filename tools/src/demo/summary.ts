import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { agrees, type CustomerComparison } from './compare.ts'
import { sum } from './tally.ts'

/** Returns the table at the end of the demo, which compares what was sent with what each place stored. */
export function summaryText(comparisons: readonly CustomerComparison[]): string {
  const total = (pick: (comparison: CustomerComparison) => number): string =>
    formatCount(comparisons.reduce((running, comparison) => running + pick(comparison), 0))
  const rows = [
    ['sent', total((each) => sum(each.tally.sent)), 'usage records, each with an idempotency key'],
    ['acked', total((each) => sum(each.tally.acked)), 'answered 200, so durable'],
    ['stored', total((each) => each.stored), 'rows in ClickHouse'],
    ['counted', total((each) => each.counted), 'units of successful calls in the limit counters'],
    ['  of acked', total((each) => each.tally.acked.success), 'successful calls among the acked'],
    ['  of stored', total((each) => each.storedUnits), 'successful calls among the rows'],
    ['denied', total((each) => each.tally.denied), 'denied limit checks'],
  ]
  return formatTable(['', 'records', ''], rows)
}

/** Returns one line per customer whose numbers differ. */
export function differences(comparisons: readonly CustomerComparison[]): string[] {
  return comparisons
    .filter((comparison) => !agrees(comparison))
    .map(
      ({ tally, counted, stored, storedUnits }) =>
        `${tally.customerRef}: sent ${sum(tally.sent)}, acked ${sum(tally.acked)} ` +
        `(${tally.acked.success} successful), counted ${counted}, stored ${stored} (${storedUnits} units)`,
    )
}
