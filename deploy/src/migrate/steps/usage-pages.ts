import { usageColumns, type UsageRow as SinkRow } from '@tollgate/aggregator/domain/usage-rows'
import type { Column } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { Outcome } from '@tollgate/schemas/meter-event'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import type { PagedTable } from './read-pages.ts'

/** A row of `usage_records` as read. Numbers beyond 32 bits are text. */
export type UsageRow = {
  readonly id: string
  readonly provider_id: string
  readonly customer_ref: string
  readonly meter_name: string
  readonly micros: string
  readonly timestamp_ms: string
  readonly received_at_ms: string
  readonly product_ref: string
  readonly purchase_ref: string
  readonly outcome: Outcome
  readonly source: string
  readonly idempotency_key: string
  readonly properties: string
  readonly debit_micros: string
  readonly event_type: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly value_text: string
  readonly is_further: number
  readonly log_partition: number
  readonly log_offset: string
}

export function usagePages(environment: Environment): PagedTable<UsageRow> {
  return {
    name: `${environment}.usage_records`,
    columns: [
      'id',
      'provider_id',
      'customer_ref',
      'meter_name',
      'reinterpretAsInt64(value) AS micros',
      'toUnixTimestamp64Milli(timestamp) AS timestamp_ms',
      'toUnixTimestamp64Milli(received_at) AS received_at_ms',
      'product_ref',
      'purchase_ref',
      'outcome',
      'source',
      'idempotency_key',
      'properties',
      'toString(toInt128(debit * 1000000)) AS debit_micros',
      'event_type',
      'dimensions',
      'value_text',
      'is_further',
      'log_partition',
      'log_offset',
    ],
    key: [
      { name: 'provider_id', type: 'String' },
      { name: 'meter_name', type: 'String' },
      { name: 'customer_ref', type: 'String' },
      {
        name: 'timestamp',
        type: 'Int64',
        restore: (ms) => `fromUnixTimestamp64Milli(${ms}, 'UTC')`,
      },
      { name: 'id', type: 'String' },
    ],
    keyOf: (row) => [row.provider_id, row.meter_name, row.customer_ref, row.timestamp_ms, row.id],
    bytes:
      '(length(properties) + length(customer_ref) + length(idempotency_key) + length(toString(dimensions)) + 256)',
  }
}

/** A row with its partition in the target. */
export type MovedRecord = SinkRow & { readonly partition: number }

export function movedRecord(row: UsageRow, partition: number): MovedRecord {
  return {
    partition,
    offset: offsetOfNoLog,
    isFurther: row.is_further === 1,
    count: { meterName: row.meter_name, value: Number(row.micros), text: row.value_text },
    event: {
      id: row.id,
      providerId: row.provider_id,
      customerRef: row.customer_ref,
      meterName: row.meter_name,
      value: Number(row.micros),
      timestamp: Number(row.timestamp_ms),
      receivedAt: Number(row.received_at_ms),
      productRef: row.product_ref,
      purchaseRef: row.purchase_ref,
      outcome: row.outcome,
      source: row.source,
      idempotencyKey: row.idempotency_key,
      properties: row.properties,
      reservationId: null,
      traceParent: null,
      debit: row.debit_micros === '0' ? null : row.debit_micros,
      eventType: row.event_type === '' ? null : row.event_type,
      dimensions: row.dimensions,
      // Each row is moved by itself, so it is one count.
      counts: [],
    },
  }
}

/** The columns that the sink writes, except that each row has its own partition. */
export const movedColumns: readonly Column<MovedRecord>[] = usageColumns(0).map(
  (column): Column<MovedRecord> =>
    column.name === 'log_partition'
      ? { name: 'log_partition', type: 'UInt32', value: ({ partition }) => partition }
      : column,
)
