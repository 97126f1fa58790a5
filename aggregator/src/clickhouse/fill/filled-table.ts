import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { storedName, type UsageTable } from '../usage-table.ts'

/** A roll-up of `usage_records` with a view, and with partitions of its own for the rows that a fill computes. */
export type FilledTable = {
  readonly table: UsageTable
  /** Key columns, as expressions of a record. In all expressions, `record` is the table of records. */
  readonly keys: Readonly<Record<string, string>>
  /** Summed columns, as expressions of one record. */
  readonly sums: Readonly<Record<string, string>>
  /** Columns with states of aggregate functions, as expressions of a group of records. */
  readonly states: Readonly<Record<string, string>>
  /** Clause that turns one record into several rows, or the empty text. */
  readonly join: string
  /** Condition for the records that the roll-up contains. */
  readonly condition: string
}

function aliased(columns: Readonly<Record<string, string>>): string[] {
  return Object.entries(columns).map(([name, expression]) =>
    name === expression ? name : `${expression} AS ${name}`,
  )
}

/** Returns the statement that creates the view of a roll-up, which sees what is inserted into the table `from` of the database. */
export function createView(
  { table, keys, sums, states, join, condition }: FilledTable,
  from: string,
  place: MigratedPlace,
): string {
  const summed = Object.entries(sums).map(([name, expression]) => `sum(${expression}) AS ${name}`)
  return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.${table.name}_view${onCluster(place)}
    TO ${storedName(table, place)} AS
    SELECT ${[...aliased(keys), ...summed, ...aliased(states)].join(', ')}
    FROM ${place.database}.${from} AS record ${join}
    WHERE ${condition}
    GROUP BY ${Object.keys(keys).join(', ')}`
}

/**
 * Returns the statement that adds the records of `chosen` to a table with the columns of the roll-up. Sums are not grouped, so that the
 * statement needs little memory: ClickHouse adds up the rows of each block, and later of all blocks.
 */
export function insertFilled(
  { keys, sums, states, join, condition }: FilledTable,
  {
    from,
    into,
    chosen,
    settings,
  }: Readonly<Record<'from' | 'into' | 'chosen' | 'settings', string>>,
): string {
  const names = [...Object.keys(keys), ...Object.keys(sums), ...Object.keys(states)]
  const isGrouped = Object.keys(states).length > 0
  return `INSERT INTO ${into} (${[...names, 'is_filled'].join(', ')})
    SELECT ${[...aliased(keys), ...aliased(sums), ...aliased(states)].join(', ')}, 1 AS is_filled
    FROM ${from} AS record FINAL ${join}
    WHERE ${condition} AND ${chosen}
    ${isGrouped ? `GROUP BY ${Object.keys(keys).join(', ')}` : ''}
    SETTINGS ${settings}`
}
