import {
  UsageStoreUnavailableError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { storedName } from './usage-table.ts'
import { usageRecordsTable } from './migrations/0001-usage-records.ts'
import { usageByHourTable } from './migrations/0002-usage-by-hour.ts'
import { unreadableRecordsTable } from './migrations/0003-unreadable-records.ts'
import { creditDebitsTable } from './migrations/0004-credit-debits.ts'
import { usageTotalsRangesTable, usageTotalsTable } from './migrations/0008-usage-totals.ts'
import { filledTables } from './migrations/0012-roll-up-tables.ts'

const tables = [
  usageRecordsTable,
  usageByHourTable,
  unreadableRecordsTable,
  creditDebitsTable,
  usageTotalsTable,
  usageTotalsRangesTable,
  ...filledTables.map(({ table }) => table),
]

/**
 * Throws UsageStoreUnavailableError if a replica that a query would read lacks blocks that Keeper knows of. A quorum may leave out
 * one replica, and after a failover queries may read that one. Its missing blocks must not be taken for lost rows. The table
 * function reads the same replica of each shard as the distributed tables do.
 */
export async function requireCaughtUp(
  store: Pick<UsageStore, 'query'>,
  environment: Environment,
  cluster: string,
): Promise<void> {
  const [row] = await store.query<{ total: string }>(caughtUpQuery(cluster), {
    database: environment,
    tables: tables.map(
      (table) => storedName(table, { database: environment, cluster }).split('.')[1],
    ),
  })
  if (Number(row?.total) > 0) {
    throw new UsageStoreUnavailableError(
      'a ClickHouse replica is still fetching parts from other replicas',
    )
  }
}

/** Returns the query. The name of the cluster cannot be a parameter; it is validated where it is configured. */
function caughtUpQuery(cluster: string): string {
  return `SELECT count() AS total FROM cluster('${cluster}', 'system', 'replicas')
     WHERE database = {database:String} AND table IN {tables:Array(String)}
       AND (inserts_in_queue > 0 OR log_pointer <= log_max_index)`
}
