import type { FilledTable } from './fill/filled-table.ts'
import type { UsageTable } from './usage-table.ts'

/** A table of sums of `usage_records`. A view fills it, and the sink compares it with the records when a batch is redone. */
export type RollUp = Pick<FilledTable, 'keys' | 'sums' | 'join' | 'condition'> & {
  readonly table: UsageTable
  /** The key column with the time of a row. */
  readonly time: 'hour' | 'day'
  /** The key column by which rows are compared with records: a single sink writes all rows with the same value. */
  readonly comparedBy: 'customer_ref' | 'log_partition'
  /**
   * Summed columns, and those of `usage_by_day` that add up to the same for each day, product and outcome of a log partition. A
   * comparison by log partition reads all records of the meter, so it is left out if these agree.
   */
  readonly addsUpTo?: Readonly<Record<string, string>>
}

/** Returns the columns of a list of expressions, for SELECT. */
export function selected(columns: Readonly<Record<string, string>>): string[] {
  return Object.entries(columns).map(([name, expression]) =>
    name === expression ? name : `${expression} AS ${name}`,
  )
}
