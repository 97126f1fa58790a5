import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { createObserver } from '../fill/fill-bounds.ts'
import { fillRollUps } from '../fill/fill-roll-ups.ts'
import { createView } from '../fill/filled-table.ts'
import { storedName } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'
import { filledTables } from './0012-roll-up-tables.ts'

const fill = '0013'

const columns = `
        id String,
        provider_id String,
        meter_name LowCardinality(String),
        customer_ref String,
        value Decimal(18, 6),
        timestamp DateTime64(3, 'UTC'),
        product_ref String,
        purchase_ref String,
        outcome LowCardinality(String),
        source LowCardinality(String),
        debit Decimal(38, 6),
        dimensions Map(LowCardinality(String), String),
        is_further UInt8,
        log_partition UInt32,
        log_offset UInt64
    `

/**
 * The views of all roll-ups see the table `rolled_up_records`, which stores nothing. The last statement connects it with
 * `usage_records`, so that all views begin with the same insert: sinks of older versions may store meanwhile. The fill then adds what
 * was stored before.
 */
export const filledRollUps: ClickHouseMigration = {
  name: '0013-filled-roll-ups',
  statements: (place) => [
    `CREATE TABLE IF NOT EXISTS ${place.database}.rolled_up_records${onCluster(place)}
    (${columns})
    ENGINE = Null`,
    ...filledTables.map((filledTable) => createView(filledTable, 'rolled_up_records', place)),
    ...createObserver(fill, 'rolled_up_records', place),
    connectRecords(place),
  ],
  work: (work) => fillRollUps(work, { fill, tables: filledTables }),
}

function connectRecords(place: MigratedPlace): string {
  return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.rolled_up_records_view${onCluster(place)}
    TO ${place.database}.rolled_up_records AS
    SELECT id, provider_id, meter_name, customer_ref, value, timestamp, product_ref, purchase_ref, outcome, source, debit,
      dimensions, is_further, log_partition, log_offset
    FROM ${storedName(usageRecordsTable, place)}`
}
