import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { correctionSource } from '@tollgate/schemas/correction-records'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { outcomes, type MeterEvent } from '@tollgate/schemas/meter-event'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrateUsageTables } from '../src/clickhouse/migrate.ts'
import type { EventRecord, UnreadableRecord } from '../src/domain/decoded-batch.ts'
import { rowsOf, unreadableColumns, usageColumns } from '../src/domain/usage-rows.ts'

/*
 * Rows that the sink inserts are read back from the real engine and compared with a model that is computed in another way: decimals
 * and times as text.
 */

let clickhouse: TestUsageStore
beforeAll(async () => {
  clickhouse = await startTestUsageStore()
  await migrateUsageTables(clickhouse.connection)
})
afterAll(() => clickhouse.stop())

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom(
    '',
    '\0',
    '\n',
    '\t\\N',
    '"}',
    `'`,
    '\ud83d\ude00',
    'ß'.repeat(64),
    'x'.repeat(20_000),
  ),
)
const maybeText = fc.option(text)
const amount = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(
    0,
    1,
    -1,
    999_999,
    9e15,
    -9e15,
    Number.MAX_SAFE_INTEGER,
    -Number.MAX_SAFE_INTEGER,
  ),
)
/** Times at the edge of what the sink stores, from 1970 to the end of 2099. */
const edge = fc.constantFrom(
  0,
  951_782_399_999,
  951_782_400_000,
  2 ** 31 * 1_000,
  4_102_444_799_999,
)
const receivedAt = fc.oneof(edge, fc.integer({ min: 0, max: 4_102_444_799_999 }))
/** Times of a few months, since the engine creates a part for each month. */
const timestamp = fc.oneof(edge, fc.integer({ min: 1_772_323_200_000, max: 1_775_001_599_999 }))
const event: fc.Arbitrary<MeterEvent> = fc.record({
  id: text,
  providerId: text,
  customerRef: text,
  meterName: text,
  value: amount,
  timestamp,
  receivedAt,
  productRef: maybeText,
  purchaseRef: maybeText,
  outcome: fc.constantFrom(...outcomes),
  source: text,
  idempotencyKey: maybeText,
  properties: text,
  reservationId: fc.option(text),
  traceParent: fc.option(fc.string()),
  debit: fc.option(fc.bigInt({ min: 1n, max: 10n ** 18n }).map(String)),
  eventType: maybeText,
  dimensions: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
  counts: fc
    .uniqueArray(
      fc.record({
        meterName: fc.constantFrom('m1', 'm2', 'm3'),
        value: amount,
        text: fc.option(text),
      }),
      { selector: ({ meterName }) => meterName, maxLength: 3 },
    )
    .map((counts) => counts.toSorted((one, other) => (one.meterName < other.meterName ? -1 : 1))),
})
const eventsMax = 200
const batch = fc.record({
  // Two events with one id and one time would be one record of the table.
  events: fc.uniqueArray(event, {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: eventsMax,
    size: 'max',
  }),
  fromOffset: fc.maxSafeNat().map((offset) => Math.max(0, offset - eventsMax)),
})

it('usage_records contains every event unchanged, with a row for each count', async () => {
  const table = 'live.usage_records'
  const countEvents = 'SELECT toString(sum(events)) AS total FROM live.usage_by_purchase'
  let run = 0
  // An event that counts on several meters is one event of the roll-up.
  let eventTotal = 0
  await fc.assert(
    fc.asyncProperty(batch, async ({ events, fromOffset }) => {
      // Separates the rows of this run from those of others.
      const partition = run++
      const records = events.map((each, index) => ({ offset: fromOffset + index, event: each }))
      const stored = rowsOf(records)
      await clickhouse.store.insert(table, usageColumns(partition), stored, `run-${partition}`)
      const rows = await clickhouse.store.query(
        `SELECT * FROM ${table} WHERE log_partition = {partition:UInt32}
         ORDER BY log_offset, properties = '{}', meter_name`,
        { partition },
      )
      expect(rows).toEqual(records.flatMap((each) => expectedRows(partition, each)))
      eventTotal += events.filter(({ source }) => source !== correctionSource).length
      expect(await clickhouse.store.query(countEvents)).toEqual([{ total: String(eventTotal) }])
    }),
    randomRuns(25),
  )
})

function expectedRows(partition: number, record: EventRecord): Record<string, unknown>[] {
  const { counts, meterName, value } = record.event
  const isCloudEvent = meterName === '' && counts.length > 0
  const all = isCloudEvent ? counts : [{ meterName, value, text: null }, ...counts]
  return all.map((count, index) => ({
    ...rowOf(partition, record),
    meter_name: count.meterName,
    value: decimalText(count.value),
    value_text: count.text ?? '',
    is_further: index > 0 ? 1 : 0,
    ...(index > 0 && { debit: '0', properties: '{}' }),
  }))
}

function rowOf(partition: number, { offset, event }: EventRecord): Record<string, unknown> {
  return {
    id: event.id,
    provider_id: event.providerId,
    customer_ref: event.customerRef,
    meter_name: event.meterName,
    value: decimalText(event.value),
    timestamp: timeText(event.timestamp),
    received_at: timeText(event.receivedAt),
    product_ref: event.productRef ?? '',
    purchase_ref: event.purchaseRef ?? '',
    outcome: event.outcome,
    source: event.source,
    idempotency_key: event.idempotencyKey ?? '',
    properties: event.properties,
    debit: decimalText(BigInt(event.debit ?? 0)),
    event_type: event.eventType ?? '',
    dimensions: event.dimensions,
    log_partition: partition,
    log_offset: String(offset),
  }
}

/** Returns the decimal as ClickHouse writes it, without trailing zeros. */
function decimalText(micros: number | bigint): string {
  const digits = String(micros).replace('-', '').padStart(7, '0')
  const number = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
  return micros < 0 ? `-${number}` : number
}

function timeText(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('T', ' ').replace('Z', '')
}

it('unreadable_records contains the bytes unchanged', async () => {
  const records: UnreadableRecord[] = [
    { offset: 4, receivedAtMs: 0, value: Uint8Array.from([0, 255, 10]), error: 'a "b"' },
    { offset: 2 ** 40, receivedAtMs: 4_102_444_799_999, value: new Uint8Array(0), error: '\0' },
  ]
  const table = 'sandbox.unreadable_records'
  await clickhouse.store.insert(table, unreadableColumns(1), records, 'token')
  expect(await clickhouse.store.query(`SELECT * FROM ${table} ORDER BY log_offset`)).toEqual([
    {
      log_partition: 1,
      log_offset: '4',
      received_at: '1970-01-01 00:00:00.000',
      error: 'a "b"',
      raw: 'AP8K',
    },
    {
      log_partition: 1,
      log_offset: String(2 ** 40),
      received_at: '2099-12-31 23:59:59.999',
      error: '\0',
      raw: '',
    },
  ])
})
