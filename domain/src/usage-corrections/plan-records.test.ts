import { correctionRecordId } from '@tollgate/schemas/correction-records'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { correctionRecord, decideDifference, type StoredRecord } from './plan-records.ts'

const unit = 1_000_000n

function record(fields: Partial<StoredRecord> = {}): StoredRecord {
  return {
    id: 'usage_1',
    customerRef: 'user_1',
    timestamp: 1_700_000_000_123,
    productRef: 'prd_1',
    purchaseRef: '',
    properties: '{"outcome":"success","metadata":{"model":"large"}}',
    eventType: '',
    dimensions: { model: 'large' },
    counts: [{ meterName: 'requests', micros: 5n * unit, text: '' }],
    debitMicros: 0n,
    ...fields,
  }
}

const remove = { action: 'remove', valueMicros: undefined } as const
const setTo = (units: bigint) => ({ action: 'set', valueMicros: units * unit }) as const
const scope = { environment: 'sandbox', providerId: 'prv_1' } as const

describe('a correction that removes', () => {
  it('takes away everything that is left, on all meters, with the whole debit', () => {
    const counts = [
      { meterName: 'input', micros: 5n, text: '' },
      { meterName: 'readers', micros: unit, text: 'ada' },
      { meterName: 'used_up', micros: 0n, text: '' },
    ]
    expect(decideDifference(record({ counts, debitMicros: 7n }), remove)).toEqual({
      counts: [
        { meterName: 'input', micros: -5n },
        { meterName: 'readers', micros: -unit },
      ],
      debitMicros: -7n,
    })
  })

  it('finds nothing in a record that was taken away before', () => {
    const counts = [{ meterName: 'requests', micros: 0n, text: '' }]
    expect(decideDifference(record({ counts }), remove)).toBeUndefined()
  })

  it('gives the debit back also if no unit is left', () => {
    const counts = [{ meterName: 'requests', micros: 0n, text: '' }]
    const original = record({ counts, debitMicros: 3n })
    const difference = decideDifference(original, remove)
    expect(difference).toEqual({ counts: [], debitMicros: -3n })
    if (difference === undefined || difference === 'skipped') throw new Error('nothing to change')
    expect(correctionRecord(scope, 'ucr_1', original, difference)).toMatchObject({
      meterName: 'requests',
      value: 0,
      counts: [],
      debit: '-3',
    })
  })
})

describe('a correction that sets a value', () => {
  it('works from what is left, and scales the debit', () => {
    expect(decideDifference(record({ debitMicros: 100n }), setTo(2n))).toEqual({
      counts: [{ meterName: 'requests', micros: -3n * unit }],
      debitMicros: -60n,
    })
  })

  it('debits nothing for a larger value, and changes nothing for the same one', () => {
    const paid = record({ debitMicros: 100n })
    expect(decideDifference(paid, setTo(9n))).toEqual({
      counts: [{ meterName: 'requests', micros: 4n * unit }],
      debitMicros: 0n,
    })
    expect(decideDifference(paid, setTo(5n))).toBeUndefined()
  })

  it('skips records with several meters, and those that count different values', () => {
    const two = [
      { meterName: 'input', micros: 5n, text: '' },
      { meterName: 'output', micros: 5n, text: '' },
    ]
    expect(decideDifference(record({ counts: two }), setTo(1n))).toBe('skipped')
    const text = [{ meterName: 'readers', micros: unit, text: 'ada' }]
    expect(decideDifference(record({ counts: text }), setTo(0n))).toBe('skipped')
  })

  it('leaves what a model says, whatever was corrected before, and never returns more than was paid', () => {
    const value = fc.bigInt({ min: 0n, max: 9_000_000_000n * unit })
    const corrections = fc.array(
      fc.oneof(
        fc.constant(remove),
        value.map((valueMicros) => ({ action: 'set', valueMicros }) as const),
      ),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(value, value, corrections, (first, paid, all) => {
        let left = record({
          counts: [{ meterName: 'requests', micros: first, text: '' }],
          debitMicros: paid,
        })
        for (const correction of all) {
          const difference = decideDifference(left, correction)
          if (difference !== undefined && difference !== 'skipped') {
            const micros =
              left.counts[0]!.micros +
              difference.counts.reduce((sum, each) => sum + each.micros, 0n)
            left = {
              ...left,
              counts: [{ ...left.counts[0]!, micros }],
              debitMicros: left.debitMicros + difference.debitMicros,
            }
          }
          const wanted = correction.action === 'remove' ? 0n : correction.valueMicros
          expect(left.counts[0]!.micros).toBe(wanted)
          expect(left.debitMicros >= 0n && left.debitMicros <= paid).toBe(true)
          if (correction.action === 'remove') expect(left.debitMicros).toBe(0n)
        }
      }),
    )
  })
})

describe('the appended record', () => {
  it('is a signed copy that names the original and the correction', () => {
    const original = record({ debitMicros: 10n })
    const made = correctionRecord(scope, 'ucr_1', original, {
      counts: [{ meterName: 'requests', micros: -5n * unit }],
      debitMicros: -10n,
    })
    expect(made).toEqual({
      id: correctionRecordId('sandbox', 'prv_1', 'ucr_1', original),
      idempotencyKey: 'ucr_1:usage_1',
      customerRef: 'user_1',
      meterName: 'requests',
      value: -5_000_000,
      timestamp: 1_700_000_000_123,
      productRef: 'prd_1',
      purchaseRef: null,
      properties:
        '{"outcome":"success","metadata":{"model":"large"},"correction":{"reference":"ucr_1","corrects":"usage_1"}}',
      debit: '-10',
      eventType: null,
      dimensions: { model: 'large' },
      counts: [],
    })
  })

  it('has the same id at every attempt, and another one for each original, correction, provider and environment', () => {
    const one = { id: 'usage_1', timestamp: 1 }
    const ids = [
      correctionRecordId('sandbox', 'prv_1', 'ucr_1', one),
      correctionRecordId('sandbox', 'prv_1', 'ucr_1', one),
      correctionRecordId('sandbox', 'prv_1', 'ucr_1', { ...one, id: 'usage_2' }),
      correctionRecordId('sandbox', 'prv_1', 'ucr_1', { ...one, timestamp: 2 }),
      correctionRecordId('sandbox', 'prv_1', 'ucr_2', one),
      correctionRecordId('sandbox', 'prv_2', 'ucr_1', one),
      correctionRecordId('live', 'prv_1', 'ucr_1', one),
    ]
    expect(new Set(ids).size).toBe(6)
    expect(ids[0]).toBe(ids[1])
  })
})
