import { describe, expect, it } from 'vitest'
import { meterEvent } from '../../test/meter-event.ts'
import { marksOfBatch, resolveFirstOffsets } from './first-offsets.ts'

const record = (offset: number, id: string, idempotencyKey: string | null) => ({
  offset,
  event: meterEvent({ id, idempotencyKey, receivedAt: 1000 + offset }),
})

describe('marksOfBatch', () => {
  it('returns one mark per id with an idempotency key, for its first record in the batch', () => {
    const events = [
      record(5, 'a', 'k'),
      record(6, 'b', null),
      record(7, 'a', 'k'),
      record(8, 'c', 'l'),
    ]
    expect(marksOfBatch(events)).toEqual([
      { id: 'a', offset: 5, receivedAtMs: 1005 },
      { id: 'c', offset: 8, receivedAtMs: 1008 },
    ])
  })
})

describe('resolveFirstOffsets', () => {
  const wanted = [
    { id: 'a', offset: 5, receivedAtMs: 0 },
    { id: 'c', offset: 8, receivedAtMs: 0 },
    { id: 'd', offset: 9, receivedAtMs: 0 },
  ]

  it('prefers existing marks and lists those that do not exist yet', () => {
    const { byId, missing } = resolveFirstOffsets(wanted, [2, undefined, 9])
    expect([...byId]).toEqual([
      ['a', 2],
      ['c', 8],
      ['d', 9],
    ])
    expect(missing.map((mark) => mark.id)).toEqual(['c'])
  })

  it('treats offset 0 as an offset', () => {
    const { byId, missing } = resolveFirstOffsets(wanted.slice(0, 1), [0])
    expect(byId.get('a')).toBe(0)
    expect(missing).toEqual([])
  })
})
