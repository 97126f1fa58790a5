import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

/** Creates the roll-ups of the console in both environments, and views that fill them from `usage_records`, without protection against repeats. */
export async function createConsoleRollUps(store: UsageStore): Promise<void> {
  for (const environment of ['sandbox', 'live']) {
    await store.command(`CREATE DATABASE IF NOT EXISTS ${environment}`)
    await store.command(
      `CREATE TABLE ${environment}.usage_by_purchase (
        provider_id String, meter_name LowCardinality(String), customer_ref String, product_ref String,
        purchase_ref String, outcome LowCardinality(String), hour DateTime('UTC'), value Decimal(38, 6),
        records Int64, events Int64, debit Decimal(38, 6)
      ) ENGINE = SummingMergeTree
      ORDER BY (provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome, hour)`,
    )
    await store.command(
      `CREATE TABLE ${environment}.usage_by_dimension (
        provider_id String, meter_name LowCardinality(String), dimension LowCardinality(String),
        dimension_value String, product_ref String, outcome LowCardinality(String), hour DateTime('UTC'),
        log_partition UInt32, value Decimal(38, 6), records Int64
      ) ENGINE = SummingMergeTree
      ORDER BY (provider_id, meter_name, dimension, dimension_value, product_ref, outcome, hour, log_partition)`,
    )
  }
}
