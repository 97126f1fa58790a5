import { GrowingBuffer } from '@tollgate/platform/usage-store/clickhouse/growing-buffer'
import { writeNativeBlock } from '@tollgate/platform/usage-store/clickhouse/native-block'
import { describe, expect, it } from 'vitest'
import { encoded, meterEvent } from '../../test/meter-event.ts'
import { sinkBatchBytesMax } from '../config.ts'
import { eventsToStore, usageColumns } from './usage-rows.ts'

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
    const buffer = new GrowingBuffer()
    const rows = Array.from({ length: 100 }, () => ({ offset: 2 ** 48, event }))
    writeNativeBlock(buffer, usageColumns(1023), rows)
    const growth = buffer.written().length / (100 * encoded(event).length)
    expect(growth * sinkBatchBytesMax).toBeLessThan(storeBytesMax)
  })
})
