import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

/** Creates the tables of both environments with the columns that queries read, without the sink's protection against repeats. */
export async function createUsageRecordTables(store: UsageStore): Promise<void> {
  for (const environment of ['sandbox', 'live']) {
    await store.command(`CREATE DATABASE IF NOT EXISTS ${environment}`)
    await store.command(
      `CREATE TABLE ${environment}.usage_records (
        id String, provider_id String, customer_ref String, meter_name LowCardinality(String),
        value Decimal(18, 6), timestamp DateTime64(3, 'UTC'), received_at DateTime64(3, 'UTC'),
        outcome LowCardinality(String), source LowCardinality(String), idempotency_key String, properties String,
        dimensions Map(LowCardinality(String), String), value_text String
      ) ENGINE = ReplacingMergeTree ORDER BY (provider_id, meter_name, customer_ref, timestamp, id)`,
    )
  }
}
