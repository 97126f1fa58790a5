import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encoded, meterEvent } from '../../test/meter-event.ts'
import { sinkBatchBytesMax } from '../config.ts'
import { unreadableRows, usageRows } from './usage-rows.ts'

const storeBytesMax = 64 * 1024 * 1024

const textOf = (jsonLines: Uint8Array | string): string => Buffer.from(jsonLines).toString()

const rowsOf = (jsonLines: Uint8Array | string): unknown[] =>
  textOf(jsonLines)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown)

describe('usageRows', () => {
  it('writes every column', () => {
    const event = meterEvent({ productRef: 'prd_1', idempotencyKey: 'k', value: 2_500_000 })
    const { jsonLines, rowTotal } = usageRows(3, [{ offset: 9, event }], new Map([[event.id, 9]]))
    expect(rowTotal).toBe(1)
    expect(textOf(jsonLines)).toContain('"value":2.500000,')
    expect(rowsOf(jsonLines)).toEqual([
      {
        id: event.id,
        provider_id: 'prov_1',
        customer_ref: 'cus_1',
        meter_name: 'requests',
        value: 2.5,
        timestamp: '2026-03-01 12:00:00.000',
        received_at: '2026-03-01 12:00:00.500',
        product_ref: 'prd_1',
        purchase_ref: '',
        outcome: 'success',
        source: 'meter-events',
        idempotency_key: 'k',
        properties: '{}',
        log_partition: 3,
        log_offset: 9,
      },
    ])
  })

  it('keeps what does not count and leaves duplicates out', () => {
    const events = [
      { offset: 1, event: meterEvent({ id: 'a', idempotencyKey: 'k', outcome: 'fail' }) },
      { offset: 2, event: meterEvent({ id: 'a', idempotencyKey: 'k' }) },
    ]
    const rows = usageRows(0, events, new Map([['a', 1]]))
    expect(rows).toMatchObject({ rowTotal: 1, duplicateTotal: 1 })
    expect(textOf(rows.jsonLines)).toContain('"outcome":"fail"')
  })

  it('is one line of JSON per record, whatever the text', () => {
    const texts = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(texts, texts, texts, (customerRef, meterName, properties) => {
        const event = meterEvent({ customerRef, meterName, properties })
        const rows = rowsOf(usageRows(0, [{ offset: 0, event }], new Map()).jsonLines)
        expect(rows).toHaveLength(1)
        expect(rows[0]).toMatchObject({
          customer_ref: customerRef,
          meter_name: meterName,
          properties,
        })
      }),
    )
  })
  it.each(['\u0001', '"', '\\', 'a', '\u2028'])(
    'is never larger than the store takes, also when clients send only %j',
    (char) => {
      const text = char.repeat(256)
      const event = meterEvent({
        customerRef: text,
        productRef: text,
        purchaseRef: text,
        idempotencyKey: text,
        properties: JSON.stringify({ text: char.repeat(16_000) }),
      })
      for (const each of [event, { ...event, properties: '{}' }]) {
        const { jsonLines } = usageRows(1023, [{ offset: 2 ** 48, event: each }], new Map())
        const growth = jsonLines.length / encoded(each).length
        expect(growth * sinkBatchBytesMax).toBeLessThan(storeBytesMax)
      }
    },
  )
})

it('unreadableRows keeps the bytes', () => {
  const value = Uint8Array.from([0, 255, 10])
  const [row] = rowsOf(unreadableRows(1, [{ offset: 4, receivedAtMs: 0, value, error: 'a "b"' }]))
  expect(row).toEqual({
    log_partition: 1,
    log_offset: 4,
    received_at: '1970-01-01 00:00:00.000',
    error: 'a "b"',
    raw: 'AP8K',
  })
})
