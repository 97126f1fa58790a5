import { NativeBlock } from '@tollgate/platform/usage-store/clickhouse/native-block'
import { describe, expect, it } from 'vitest'
import { meterEvent } from '../../test/meter-event.ts'
import { boundRows, furtherRowBytesMax } from './bound-rows.ts'
import { rowsOf, usageColumns } from './usage-rows.ts'

const many = Array.from({ length: 50 }, (_, index) => ({
  meterName: `meter_${index}`,
  value: 1,
  text: '語'.repeat(256),
}))
const large = meterEvent({
  customerRef: '語'.repeat(256),
  dimensions: Object.fromEntries(many.map(({ meterName }) => [meterName, '語'.repeat(256)])),
  counts: many,
})

function batchOf(total: number, event = large) {
  const events = Array.from({ length: total }, (_, index) => ({ offset: 10 + 2 * index, event }))
  const value = new Uint8Array(0)
  const unreadable = events.map(({ offset }) => ({
    offset: offset + 1,
    receivedAtMs: 0,
    value,
    error: '',
  }))
  return { fromOffset: 10, toOffset: 10 + 2 * total, events, unreadable }
}

describe('boundRows', () => {
  it('returns a batch of records with one count as it is', () => {
    const batch = batchOf(1_000, meterEvent({}))
    expect(boundRows(batch, 0)).toBe(batch)
  })

  it('ends a batch before its rows are larger than the store accepts', () => {
    const batch = boundRows(batchOf(100))
    expect(batch.events.length).toBeGreaterThan(1)
    expect(batch.events.length).toBeLessThan(100)
    expect(batch.toOffset).toBe(10 + 2 * batch.events.length)
    expect(batch.unreadable).toHaveLength(batch.events.length)
    const parts = new NativeBlock().write(usageColumns(1), rowsOf(batch.events))
    const bytes = parts.reduce((sum, { length }) => sum + length, 0)
    expect(bytes).toBeLessThan(1.1 * furtherRowBytesMax)
  })

  it('keeps at least one record', () => {
    const batch = boundRows(batchOf(3), 1)
    expect([batch.toOffset, batch.events.length, batch.unreadable.length]).toEqual([11, 1, 0])
  })
})
