import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

const amounts = 'sum(toDecimal128(value, 6)) AS value, toInt64(count()) AS records'
const hour = `toDateTime(toStartOfHour(timestamp), 'UTC') AS hour`

/**
 * Creates the tables of records and of the console's roll-ups in both environments, with the views that fill the roll-ups. They do not
 * recognize repeated inserts.
 */
export async function createConsoleRollUps(store: UsageStore): Promise<void> {
  for (const environment of ['sandbox', 'live']) {
    for (const statement of statementsOf(environment)) await store.command(statement)
  }
}

function statementsOf(space: string): readonly string[] {
  return [
    `CREATE DATABASE IF NOT EXISTS ${space}`,
    `CREATE TABLE ${space}.usage_records (
      id String, provider_id String, meter_name LowCardinality(String), customer_ref String, value Decimal(18, 6),
      timestamp DateTime64(3, 'UTC'), product_ref String, purchase_ref String, outcome LowCardinality(String),
      dimensions Map(LowCardinality(String), String), log_partition UInt32
    ) ENGINE = ReplacingMergeTree ORDER BY (provider_id, meter_name, customer_ref, timestamp, id)`,
    `CREATE TABLE ${space}.usage_by_purchase (
      provider_id String, meter_name LowCardinality(String), customer_ref String, product_ref String,
      purchase_ref String, outcome LowCardinality(String), hour DateTime('UTC'), value Decimal(38, 6),
      records Int64, events Int64, debit Decimal(38, 6)
    ) ENGINE = SummingMergeTree
    ORDER BY (provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome, hour)`,
    `CREATE MATERIALIZED VIEW ${space}.usage_by_purchase_view TO ${space}.usage_by_purchase AS
    SELECT provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome, ${hour}, ${amounts}
    FROM ${space}.usage_records
    GROUP BY provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome, hour`,
    `CREATE TABLE ${space}.usage_by_meter (
      provider_id String, meter_name LowCardinality(String), product_ref String, outcome LowCardinality(String),
      hour DateTime('UTC'), log_partition UInt32, value Decimal(38, 6), records Int64, events Int64, debit Decimal(38, 6)
    ) ENGINE = SummingMergeTree
    ORDER BY (provider_id, meter_name, hour, product_ref, outcome, log_partition)`,
    `CREATE MATERIALIZED VIEW ${space}.usage_by_meter_view TO ${space}.usage_by_meter AS
    SELECT provider_id, meter_name, product_ref, outcome, ${hour}, log_partition, ${amounts}
    FROM ${space}.usage_records
    GROUP BY provider_id, meter_name, product_ref, outcome, hour, log_partition`,
    `CREATE TABLE ${space}.usage_by_day (
      provider_id String, meter_name LowCardinality(String), day DateTime('UTC'), customer_ref String, product_ref String,
      purchase_ref String, outcome LowCardinality(String), value Decimal(38, 6), positive_value Decimal(38, 6), records Int64
    ) ENGINE = SummingMergeTree
    ORDER BY (provider_id, meter_name, day, customer_ref, product_ref, purchase_ref, outcome)`,
    `CREATE MATERIALIZED VIEW ${space}.usage_by_day_view TO ${space}.usage_by_day AS
    SELECT provider_id, meter_name, toDateTime(toStartOfDay(timestamp), 'UTC') AS day, customer_ref, product_ref,
      purchase_ref, outcome, sum(toDecimal128(each.value, 6)) AS value,
      sum(if(each.value > 0, toDecimal128(each.value, 6), toDecimal128(0, 6))) AS positive_value, toInt64(count()) AS records
    FROM ${space}.usage_records AS each
    GROUP BY provider_id, meter_name, day, customer_ref, product_ref, purchase_ref, outcome`,
    `CREATE TABLE ${space}.active_customers (
      provider_id String, hour DateTime('UTC'), customers AggregateFunction(uniqCombined64(15), String)
    ) ENGINE = AggregatingMergeTree ORDER BY (provider_id, hour)`,
    `CREATE TABLE ${space}.usage_by_dimension (
      provider_id String, meter_name LowCardinality(String), dimension LowCardinality(String),
      dimension_value String, product_ref String, outcome LowCardinality(String), hour DateTime('UTC'),
      log_partition UInt32, value Decimal(38, 6), records Int64
    ) ENGINE = SummingMergeTree
    ORDER BY (provider_id, meter_name, dimension, dimension_value, product_ref, outcome, hour, log_partition)`,
    `CREATE MATERIALIZED VIEW ${space}.usage_by_dimension_view TO ${space}.usage_by_dimension AS
    SELECT provider_id, meter_name, one_dimension AS dimension, dimensions[one_dimension] AS dimension_value,
      product_ref, outcome, ${hour}, log_partition, ${amounts}
    FROM ${space}.usage_records ARRAY JOIN mapKeys(dimensions) AS one_dimension
    GROUP BY provider_id, meter_name, dimension, dimension_value, product_ref, outcome, hour, log_partition`,
  ]
}
