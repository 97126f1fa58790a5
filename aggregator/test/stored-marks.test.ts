import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateUsageTables } from '../src/clickhouse/migrate.ts'
import { listMarkShares, listSlices, readStoredMarks } from '../src/clickhouse/stored-usage.ts'

const range = { environment: 'sandbox', partition: 0, beforeOffset: 260_000 } as const
/** 2026-11-01T00:00:00Z */
const start = 1_793_491_200
const answerMax = 200_000

let clickhouse: TestUsageStore

beforeAll(async () => {
  clickhouse = await startTestUsageStore()
  await migrateUsageTables(clickhouse.connection)
  // One customer has 210,000 records in one hour, and one record in every second after that.
  await clickhouse.store.command(`
    INSERT INTO sandbox.usage_records (* EXCEPT (event_type, dimensions, value_text, is_further))
    SELECT concat('usage_', toString(number)), 'prv', 'cus', 'requests', 1,
      toDateTime64(${start}, 3, 'UTC') + toIntervalSecond(if(number < 210000, 0, number - 206400)),
      toDateTime64(${start}, 3, 'UTC') + toIntervalSecond(number), 'prd', '', 'success', 'usages',
      if(number % 1000 = 0, '', toString(number)), '{}', 0 AS debit, 0, number
    FROM numbers(270000)`)
})
afterAll(() => clickhouse.stop())

test(
  'reads each deduplication mark once, in results of bounded size',
  { timeout: 120_000 },
  async () => {
    const { store } = clickhouse
    const slices = await listSlices(store, range)
    expect(slices.map(({ recordsTotal }) => recordsTotal)).toEqual([260_000])
    const receivedSinceMs = (start + 5_000) * 1000
    const shares = await listMarkShares(store, range, slices[0]!, receivedSinceMs)
    expect(shares.map(({ parts }) => parts)).toEqual([2, 2, 1])
    const offsets = new Map<string, number>()
    for (const share of shares) {
      const marks = await readStoredMarks(store, range, slices[0]!, receivedSinceMs, share)
      expect(marks.length).toBeLessThanOrEqual(answerMax)
      for (const { id, offset, receivedAtMs } of marks) {
        expect(offsets.has(id)).toBe(false)
        expect(receivedAtMs).toBe((start + offset) * 1000)
        offsets.set(id, offset)
      }
    }
    const expected = Array.from({ length: 260_000 }, (_, offset) => offset).filter(
      (offset) => offset >= 5_000 && offset % 1000 !== 0,
    )
    expect(offsets).toEqual(new Map(expected.map((offset) => [`usage_${offset}`, offset])))
  },
)
