import { decimalFromMicros } from '@tollgate/schemas/quantity'
import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'

/** One row of `usage_records`, in a database of a test. */
export type StoredRow = {
  readonly id: string
  readonly customerRef: string
  readonly meterName: string
  readonly micros: number
  readonly timestamp: number
  readonly productRef: string
  readonly outcome: 'success' | 'fail'
  readonly source: string
  readonly debit: number
  readonly dimensions: Readonly<Record<string, string>>
  readonly isFurther: boolean
  readonly partition: number
  readonly offset: number
}

const columns: readonly Column<StoredRow>[] = [
  { name: 'id', type: 'String', value: ({ id }) => id },
  { name: 'provider_id', type: 'String', value: () => 'prv' },
  { name: 'customer_ref', type: 'String', value: ({ customerRef }) => customerRef },
  { name: 'meter_name', type: 'String', value: ({ meterName }) => meterName },
  { name: 'value', type: 'Decimal(18, 6)', value: ({ micros }) => micros },
  { name: 'timestamp', type: "DateTime64(3, 'UTC')", value: ({ timestamp }) => timestamp },
  { name: 'product_ref', type: 'String', value: ({ productRef }) => productRef },
  { name: 'outcome', type: 'String', value: ({ outcome }) => outcome },
  { name: 'source', type: 'String', value: ({ source }) => source },
  { name: 'debit', type: 'String', value: ({ debit }) => String(debit) },
  { name: 'dimensions', type: 'Map(String, String)', value: ({ dimensions }) => dimensions },
  { name: 'is_further', type: 'UInt32', value: ({ isFurther }) => (isFurther ? 1 : 0) },
  { name: 'log_partition', type: 'UInt32', value: ({ partition }) => partition },
  { name: 'log_offset', type: 'UInt64', value: ({ offset }) => offset },
]

export async function storeRows(
  store: UsageStore,
  database: string,
  rows: readonly StoredRow[],
  token: string,
): Promise<void> {
  await store.insert(`${database}.usage_records`, columns, rows, token)
}

const monthMs = 31 * 86_400_000

/** Returns the rows of some offsets of a partition, as varied as the roll-ups distinguish them. A customer has one partition. */
export function rowsOfOffsets(
  partition: number,
  fromOffset: number,
  toOffset: number,
): StoredRow[] {
  return Array.from({ length: toOffset - fromOffset }, (_, index) => fromOffset + index).flatMap(
    (offset) => {
      const at = Date.UTC(2026, 0, 10) + (offset % 3) * monthMs + (offset % 5) * 3_000_000
      const first: StoredRow = {
        id: `usage_${partition}_${offset}`,
        customerRef: `cus_${partition}_${offset % 4}`,
        meterName: 'requests',
        micros: offset % 11 === 0 ? -500_000 : 1_500_000,
        timestamp: at,
        productRef: offset % 2 === 0 ? 'prd_a' : '',
        outcome: offset % 7 === 0 ? 'fail' : 'success',
        source: offset % 11 === 0 ? 'usage-corrections' : 'usages',
        debit: offset % 3,
        dimensions: offset % 2 === 0 ? { model: `m${offset % 6}`, region: 'eu' } : {},
        isFurther: false,
        partition,
        offset,
      }
      if (offset % 4 !== 0) return [first]
      return [
        first,
        { ...first, meterName: 'tokens', micros: 20_000_000, debit: 0, isFurther: true },
      ]
    },
  )
}

type Sums = Readonly<Record<string, string>>

const modelled = {
  usage_by_purchase: {
    keys: `concat(meter_name, ' ', customer_ref, ' ', product_ref, ' ', outcome, ' ', toString(toUnixTimestamp(hour)))`,
    sums: ['value', 'records', 'events', 'debit'],
    keyOf: (row: StoredRow) => [
      `${row.meterName} ${row.customerRef} ${row.productRef} ${row.outcome} ${startOf(row, 3_600)}`,
    ],
  },
  usage_by_dimension: {
    keys: `concat(meter_name, ' ', dimension, ' ', dimension_value, ' ', outcome, ' ', toString(toUnixTimestamp(hour)), ' ', toString(log_partition))`,
    sums: ['value', 'records'],
    keyOf: (row: StoredRow) =>
      Object.entries(row.dimensions).map(
        ([name, value]) =>
          `${row.meterName} ${name} ${value} ${row.outcome} ${startOf(row, 3_600)} ${row.partition}`,
      ),
  },
  usage_by_meter: {
    keys: `concat(meter_name, ' ', product_ref, ' ', outcome, ' ', toString(toUnixTimestamp(hour)), ' ', toString(log_partition))`,
    sums: ['value', 'records', 'events', 'debit'],
    keyOf: (row: StoredRow) => [
      `${row.meterName} ${row.productRef} ${row.outcome} ${startOf(row, 3_600)} ${row.partition}`,
    ],
  },
  usage_by_day: {
    keys: `concat(meter_name, ' ', customer_ref, ' ', outcome, ' ', toString(toUnixTimestamp(day)), ' ', toString(log_partition))`,
    sums: [
      ...['value', 'positive_value', 'records', 'events', 'debit'],
      ...['dimension_records', 'dimension_value'],
    ],
    keyOf: (row: StoredRow) => [
      `${row.meterName} ${row.customerRef} ${row.outcome} ${startOf(row, 86_400)} ${row.partition}`,
    ],
  },
} as const

export const modelledTables = Object.keys(modelled) as (keyof typeof modelled)[]

function startOf({ timestamp }: StoredRow, seconds: number): number {
  const second = Math.floor(timestamp / 1_000)
  return second - (second % seconds)
}

function amountsOf(row: StoredRow): Readonly<Record<string, number>> {
  const dimensions = Object.keys(row.dimensions).length
  return {
    value: row.micros,
    positive_value: Math.max(0, row.micros),
    records: 1,
    events: row.isFurther || row.source === 'usage-corrections' ? 0 : 1,
    debit: row.debit,
    dimension_records: dimensions,
    dimension_value: row.micros * dimensions,
  }
}

const inMicros = new Set(['value', 'positive_value', 'dimension_value'])

/** Adds the rows up in the simplest way. */
export function expectedSums(
  table: keyof typeof modelled,
  rows: readonly StoredRow[],
): Record<string, Sums> {
  const { keyOf, sums } = modelled[table]
  const totals = new Map<string, Record<string, number>>()
  for (const row of rows) {
    for (const key of keyOf(row)) {
      const total = totals.get(key) ?? {}
      const amounts = amountsOf(row)
      for (const name of sums) total[name] = (total[name] ?? 0) + amounts[name]!
      totals.set(key, total)
    }
  }
  return Object.fromEntries(
    [...totals].map(([key, total]) => [
      key,
      Object.fromEntries(
        sums.map((name) => [
          name,
          inMicros.has(name) ? decimalFromMicros(BigInt(total[name]!)) : String(total[name]),
        ]),
      ),
    ]),
  )
}

/** Reads the same sums from the table, or from another table with its columns. */
export async function readSums(
  store: UsageStore,
  database: string,
  table: keyof typeof modelled,
  from: string = table,
): Promise<Record<string, Sums>> {
  const { keys, sums } = modelled[table]
  const selected = sums.map((name) => `toString(sum(${name})) AS ${name}_sum`)
  const rows = await store.query<Record<string, string>>(
    `SELECT ${keys} AS row_key, ${selected.join(', ')} FROM ${database}.${from} GROUP BY row_key`,
  )
  return Object.fromEntries(
    rows.map((row) => [
      row['row_key']!,
      Object.fromEntries(sums.map((name) => [name, row[`${name}_sum`]!])),
    ]),
  )
}
