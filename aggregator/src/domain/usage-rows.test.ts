import { NativeBlock } from '@tollgate/platform/usage-store/clickhouse/native-block'
import { describe, expect, it } from 'vitest'
import { encoded, meterEvent } from '../../test/meter-event.ts'
import { sinkBatchBytesMax } from '../config.ts'
import { eventsToStore, rowsOf, usageColumns, type UsageRow } from './usage-rows.ts'

/** Returns what the table gets for a row, in the columns that differ between the rows of one record. */
function valuesOf(row: UsageRow): unknown[] {
  const columns = new Map(usageColumns(0).map(({ name, value }) => [name, value(row)]))
  const names = ['log_offset', 'id', 'meter_name', 'value', 'value_text', 'debit', 'properties']
  return names.map((name) => columns.get(name))
}

function bytesTotal(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

const storeBytesMax = 64 * 1024 * 1024

describe('eventsToStore', () => {
  it('keeps records that do not count and removes duplicates', () => {
    const events = [
      { offset: 1, event: meterEvent({ id: 'a', idempotencyKey: 'k', outcome: 'fail' }) },
      { offset: 2, event: meterEvent({ id: 'a', idempotencyKey: 'k' }) },
      { offset: 3, event: meterEvent({ id: 'a' }) },
    ]
    expect(eventsToStore(events, new Map([['a', 1]]))).toEqual([events[0], events[2]])
  })
})

describe('rowsOf', () => {
  const tokens = { meterName: 'tokens', value: 5, text: null }
  const users = { meterName: 'users', value: 1_000_000, text: 'ada' }

  it('returns events with one count as they are', () => {
    const events = [{ offset: 1, event: meterEvent({}) }]
    expect(rowsOf(events)).toBe(events)
  })

  it('gives the debit and the properties to the first row only', () => {
    const event = meterEvent({ debit: '7', properties: '{"a":1}', counts: [tokens, users] })
    const rows = rowsOf([{ offset: 4, event }])
    expect(rows.map(valuesOf)).toEqual([
      [4, event.id, 'requests', 1_000_000, '', '0.000007', '{"a":1}'],
      [4, event.id, 'tokens', 5, '', '0', '{}'],
      [4, event.id, 'users', 1_000_000, 'ada', '0', '{}'],
    ])
  })

  it('begins with the first count of an event that names no meter', () => {
    const event = meterEvent({ meterName: '', value: 0, debit: '7', counts: [tokens, users] })
    expect(rowsOf([{ offset: 4, event }]).map(valuesOf)).toEqual([
      [4, event.id, 'tokens', 5, '', '0.000007', event.properties],
      [4, event.id, 'users', 1_000_000, 'ada', '0', '{}'],
    ])
    const uncounted = { offset: 5, event: meterEvent({ meterName: '', value: 0 }) }
    expect(rowsOf([uncounted])).toEqual([uncounted])
    expect(
      rowsOf([{ offset: 4, event }, uncounted])
        .map(valuesOf)
        .at(-1),
    ).toEqual(valuesOf(uncounted))
  })
})

describe('rows of usage records', () => {
  const nothing = { id: '', providerId: '', customerRef: '', meterName: '', source: '' }
  const text = 'a'.repeat(256)
  it.each([
    ['with minimal values', { ...nothing, value: 0, properties: '' }],
    ['ordinary', {}],
    ['long', { customerRef: text, productRef: text, purchaseRef: text, idempotencyKey: text }],
    ['with characters that JSON escapes', { customerRef: '\u0001'.repeat(256) }],
    ['with many bytes per character', { properties: `{"text":"${'語'.repeat(5_000)}"}` }],
  ])('are never larger than the store accepts: %s', (_, fields) => {
    const event = meterEvent({ timestamp: 0, receivedAt: 0, ...fields })
    const rows = Array.from({ length: 100 }, () => ({ offset: 2 ** 48, event }))
    const bytes = bytesTotal(new NativeBlock().write(usageColumns(1023), rows))
    const growth = bytes / (100 * encoded(event).length)
    expect(growth * sinkBatchBytesMax).toBeLessThan(storeBytesMax)
  })
})
