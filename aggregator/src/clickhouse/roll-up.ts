import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { usageRecordsTable } from './migrations/0001-usage-records.ts'
import { createUsageTable, storedName, syncInserts, type UsageTable } from './usage-table.ts'

/** A table of hourly sums of `usage_records`. A view fills it, and the sink compares it with the records when a batch is redone. */
export type RollUp = {
  readonly table: UsageTable
  /** Key columns, as expressions of a record. One of them is `hour`. */
  readonly keys: Readonly<Record<string, string>>
  /** Summed columns, as expressions of one record. Each has the type of the column. */
  readonly amounts: Readonly<Record<string, string>>
  /** Clause that turns one record into several rows, or the empty text. */
  readonly join: string
  /** Condition for the records that the roll-up contains. */
  readonly condition: string
  /** The key column by which rows are compared with records: a single sink writes all rows with the same value. */
  readonly comparedBy: 'customer_ref' | 'log_partition'
}

/** Expression for the start of the hour of a record. */
export const hourOfRecord = `toDateTime(toStartOfHour(timestamp), 'UTC')`

/** Returns the columns of a list of expressions, for SELECT. */
export function selected(columns: Readonly<Record<string, string>>): string[] {
  return Object.entries(columns).map(([name, expression]) =>
    name === expression ? name : `${expression} AS ${name}`,
  )
}

/**
 * Returns the statements that create a roll-up and its view. On a single server they also fill it with the existing records. They do so
 * before the view exists, so that a repetition after a crash begins with an empty table. On a cluster, each sink compares the roll-up
 * with the records at its start, and adds those that the log has.
 */
export function createRollUp(rollUp: RollUp, place: MigratedPlace): readonly string[] {
  const { table, keys, amounts, join, condition } = rollUp
  const stored = storedName(table, place)
  const sums = Object.entries(amounts).map(([name, expression]) => `sum(${expression}) AS ${name}`)
  return [
    ...createUsageTable(table, place),
    syncInserts(table, place),
    ...(place.cluster === undefined ? [`TRUNCATE TABLE ${stored}`, fillRollUp(rollUp, place)] : []),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.${table.name}_view${onCluster(place)}
    TO ${stored} AS
    SELECT ${[...selected(keys), ...sums].join(', ')}
    FROM ${storedName(usageRecordsTable, place)} ${join}
    WHERE ${condition}
    GROUP BY ${Object.keys(keys).join(', ')}`,
  ]
}

/**
 * Returns the statement that adds all records to the roll-up. It does not group them, so that it needs little memory: the engine adds up
 * the rows of each block, and later of all blocks.
 */
function fillRollUp(
  { table, keys, amounts, join, condition }: RollUp,
  place: MigratedPlace,
): string {
  return `INSERT INTO ${place.database}.${table.name} (${[...Object.keys(keys), ...Object.keys(amounts)].join(', ')})
    SELECT ${[...selected(keys), ...selected(amounts)].join(', ')}
    FROM ${place.database}.usage_records FINAL ${join}
    WHERE ${condition}
    SETTINGS max_partitions_per_insert_block = 0`
}
