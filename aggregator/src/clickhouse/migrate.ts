import { environments } from '@tollgate/schemas/environment'
import type { ClickHouseConnection } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import {
  migrateClickHouse,
  type MigrationOptions,
} from '@tollgate/platform/usage-store/clickhouse/migrations'
import { usageRecords } from './migrations/0001-usage-records.ts'
import { usageByHour } from './migrations/0002-usage-by-hour.ts'
import { unreadableRecords } from './migrations/0003-unreadable-records.ts'
import { creditDebits } from './migrations/0004-credit-debits.ts'
import { signedRecords } from './migrations/0005-signed-records.ts'
import { durableInserts } from './migrations/0006-durable-inserts.ts'
import { eventCounts } from './migrations/0007-event-counts.ts'
import { usageTotals } from './migrations/0008-usage-totals.ts'
import { negativeDebits } from './migrations/0009-negative-debits.ts'
import { consoleRollUps } from './migrations/0010-console-roll-ups.ts'
import { dailyUsageViews } from './migrations/0011-daily-usage.ts'
import { rollUpTables } from './migrations/0012-roll-up-tables.ts'
import { filledRollUps } from './migrations/0013-filled-roll-ups.ts'

/** Migrations in order. New ones are added at the end only, and released ones never change. */
export const usageMigrations = [
  usageRecords,
  usageByHour,
  unreadableRecords,
  creditDebits,
  signedRecords,
  durableInserts,
  eventCounts,
  usageTotals,
  negativeDebits,
  consoleRollUps,
  dailyUsageViews,
  rollUpTables,
  filledRollUps,
]

/** Migrates the databases `sandbox` and `live`, which have the same tables, to this version. It can be repeated. */
export async function migrateUsageTables(
  connection: ClickHouseConnection,
  options: MigrationOptions = {},
): Promise<void> {
  for (const environment of environments) {
    await migrateClickHouse(connection, environment, usageMigrations, options)
  }
}
