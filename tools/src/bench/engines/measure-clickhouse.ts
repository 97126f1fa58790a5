import { readSettings } from '@tollgate/platform/config/settings'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'

const requestTimeoutMs = 120_000
const table = 'sandbox.ceiling'

/**
 * Returns the rows per second of one INSERT whose rows ClickHouse generates. This is the share of ClickHouse in the sink's work.
 */
export async function measureClickHouse(
  environment: Readonly<Record<string, string | undefined>>,
  rows: number,
): Promise<number> {
  const connection = clickHouseConnection(readSettings(clickHouseSettings, environment), {
    requestTimeoutMs,
    connectionsMax: 1,
  })
  const store = createClickHouseUsageStore(connection)
  try {
    await store.command(`CREATE TABLE ${table} AS sandbox.usage_records`)
    const startedAtMs = performance.now()
    await store.command(
      `INSERT INTO ${table} (id, provider_id, customer_ref, meter_name, value, timestamp, received_at,
         product_ref, outcome, source, properties, log_partition, log_offset)
       SELECT concat('usage_', leftPad(toString(number), 26, '0')), 'prv_ceiling',
         concat('customer_', toString(number % 100)), 'requests', 1, now64(3), now64(3),
         'prd_ceiling', 'success', 'usages', concat('{"requestId":"request-', toString(number), '"}'),
         number % 4, number
       FROM numbers(${rows})`,
    )
    return rows / ((performance.now() - startedAtMs) / 1000)
  } finally {
    await store.command(`DROP TABLE IF EXISTS ${table}`)
    await store.close()
  }
}
