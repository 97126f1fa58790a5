import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

export const generated = {
  environment: 'sandbox',
  providerId: 'prv_bench',
  productRef: 'prd_bench',
  meterName: 'requests',
  /** The customer whose usage is measured. All its records are in partition 0. */
  customerRef: 'customer_large',
  partitions: 12,
  /** The records are spread evenly over these 30 days. */
  startSecond: Date.UTC(2026, 8, 1) / 1_000,
  endSecond: Date.UTC(2026, 9, 1) / 1_000,
} as const

/** Each block of records has this many of the large customer, and one of another customer for each partition. */
export type RecordMix = { readonly blocks: number; readonly largePerBlock: number }

/** Returns the mix that is nearest to this many records, of which one customer has `customerRecords`. */
export function recordMix(records: number, customerRecords: number): RecordMix {
  const { partitions } = generated
  const others = Math.max(1, records - customerRecords)
  const largePerBlock = Math.max(1, Math.round((customerRecords / others) * partitions))
  return { blocks: Math.ceil(records / (largePerBlock + partitions)), largePerBlock }
}

/** Returns the offset after the last record of partition 0. */
export function endOfPartition0({ blocks, largePerBlock }: RecordMix): number {
  return blocks * (largePerBlock + 1)
}

const insertRecords = 2_000_000

/**
 * Inserts records that ClickHouse generates, because the sink would need many minutes for 100 million of them. One record in 50 is
 * up to a day late.
 */
export async function generateRecords(
  store: UsageStore,
  mix: RecordMix,
  print: (line: string) => void,
): Promise<void> {
  const blockRecords = mix.largePerBlock + generated.partitions
  const blocksPerInsert = Math.ceil(insertRecords / blockRecords)
  for (let from = 0; from < mix.blocks; from += blocksPerInsert) {
    const to = Math.min(mix.blocks, from + blocksPerInsert)
    await store.command(insertOf(mix, from * blockRecords, to * blockRecords))
    print(`generated ${to * blockRecords} of ${mix.blocks * blockRecords} records`)
  }
}

function insertOf({ blocks, largePerBlock }: RecordMix, from: number, to: number): string {
  const { environment, providerId, customerRef, meterName, productRef, partitions } = generated
  const { startSecond, endSecond } = generated
  const blockRecords = largePerBlock + partitions
  const periodMs = (endSecond - startSecond) * 1_000
  return `
    INSERT INTO ${environment}.usage_records (id, provider_id, customer_ref, meter_name, value,
      timestamp, received_at, product_ref, outcome, source, log_partition, log_offset)
    WITH number % ${blockRecords} AS place, intDiv(number, ${blockRecords}) AS block,
      place < ${largePerBlock} AS is_large, is_large ? 0 : place - ${largePerBlock} AS partition,
      ${startSecond}000 + intDiv(number * ${periodMs}, ${blocks * blockRecords}) AS received_ms,
      cityHash64(number) AS hash, hash % 50 = 0 ? hash % 86400000 : 0 AS late_ms
    SELECT concat('usage_0000000000', lower(hex(hash))), '${providerId}',
      is_large ? '${customerRef}'
        : concat('customer_', toString(hash % 10000 * ${partitions} + partition)),
      '${meterName}', toDecimal64(1 + hash % 5, 6),
      fromUnixTimestamp64Milli(toInt64(greatest(${startSecond}000, received_ms - late_ms)), 'UTC'),
      fromUnixTimestamp64Milli(toInt64(received_ms), 'UTC'),
      '${productRef}', 'success', 'usages', partition,
      partition = 0 ? block * ${largePerBlock + 1} + least(place, ${largePerBlock}) : block
    FROM numbers(${from}, ${to - from})`
}
