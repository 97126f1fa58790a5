import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { storedName } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

/** A correction of usage that a wallet paid for has a negative debit, which the ledger posts too. */
export const negativeDebits: ClickHouseMigration = {
  name: '0009-negative-debits',
  statements: (place) => [
    `ALTER TABLE ${place.database}.credit_debits_view${onCluster(place)} MODIFY QUERY
    SELECT log_partition, log_offset, id, provider_id, customer_ref, product_ref, debit, timestamp
    FROM ${storedName(usageRecordsTable, place)}
    WHERE debit != 0`,
  ],
}
