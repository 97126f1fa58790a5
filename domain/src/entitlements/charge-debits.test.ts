import fc from 'fast-check'
import type { EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import { describe, expect, it } from 'vitest'
import {
  affordableCalls,
  chargeDebits,
  chargedFields,
  highestRatePicos,
  totalDebitMicros,
  type CostingEvent,
} from './charge-debits.ts'

const picosPerCredit = 10n ** 12n

/** Rates as decimal text, with the same rate in 10^-12 credits. */
const rate = fc.bigInt({ min: 0n, max: 10n ** 18n }).map((picos) => ({
  picos,
  text: `${picos / picosPerCredit}.${String(picos % picosPerCredit).padStart(12, '0')}`,
}))
const model = fc.constantFrom('small', 'large', 'other')
const meterName = fc.constantFrom('input', 'output', 'images')

type Row = { readonly model: string; readonly rate: { picos: bigint; text: string } }
type Priced = {
  readonly meterName: string
  readonly only: string | undefined
  readonly rows: readonly Row[]
  readonly rate: { picos: bigint; text: string }
}

const priced: fc.Arbitrary<Priced> = fc.record({
  meterName,
  only: fc.option(model, { nil: undefined }),
  rows: fc.array(fc.record({ model, rate }), { maxLength: 3 }),
  rate,
})

const events: fc.Arbitrary<CostingEvent> = fc.record({
  meterName: fc.constantFrom('', 'input', 'output'),
  value: fc.nat({ max: 9e15 }),
  counts: fc.uniqueArray(
    fc.record({ meterName, value: fc.nat({ max: 9e15 }), text: fc.constant(null) }),
    { selector: (count) => count.meterName, maxLength: 3 },
  ),
  dimensions: fc.oneof(
    fc.constant({}),
    model.map((name) => ({ model: name })),
  ),
})

function chargeOf({ meterName, only, rows, rate }: Priced, index: number): EntitledCharge {
  return {
    key: `charge-${index}`,
    meterName,
    cap: null,
    debit: {
      ...(only === undefined ? {} : { where: { model: [only] } }),
      rows: rows.map((row) => ({ when: { model: row.model }, creditsPerUnit: row.rate.text })),
      creditsPerUnit: rate.text,
    },
  }
}

/** Prices an event in 10^-18 credits, straight from the words of the price list. */
function modelCost(price: readonly Priced[], event: CostingEvent): bigint {
  const used = event.dimensions['model']
  const counted = [...event.counts]
  if (event.meterName !== '') {
    counted.push({ meterName: event.meterName, value: event.value, text: null })
  }
  let attos = 0n
  for (const each of price) {
    if (each.only !== undefined && each.only !== used) continue
    const row = each.rows.find((candidate) => candidate.model === used)
    for (const { meterName, value } of counted) {
      if (meterName === each.meterName) attos += BigInt(value) * (row?.rate ?? each.rate).picos
    }
  }
  return attos
}

describe('the debit of an event', () => {
  it('is the sum over all charges, rounded once', () => {
    fc.assert(
      fc.property(fc.array(priced, { maxLength: 5 }), events, (price, event) => {
        const debits = chargeDebits(price.map(chargeOf), event)
        const attos = modelCost(price, event)
        expect(debits.reduce((sum, each) => sum + each.attoCredits, 0n)).toBe(attos)
        const total = totalDebitMicros(debits)
        const off = total * picosPerCredit - attos
        // Half a step at most, and a tie is rounded up.
        expect(off * 2n).toBeLessThanOrEqual(picosPerCredit)
        expect(off * 2n).toBeGreaterThan(-picosPerCredit)
      }),
      { numRuns: 2000 },
    )
  })

  it('states units and credits with all decimals', () => {
    const debits = chargeDebits(
      [
        { key: 'in', meterName: 'input', cap: null, debit: { creditsPerUnit: '0.0003' } },
        { key: 'out', meterName: 'output', cap: null, debit: { creditsPerUnit: '0.0000075' } },
        { key: 'free', meterName: 'other', cap: null },
      ],
      {
        meterName: '',
        value: 0,
        counts: [
          { meterName: 'input', value: 1_234_000_000, text: null },
          { meterName: 'output', value: 1_000_000, text: null },
        ],
        dimensions: {},
      },
    )
    const total = totalDebitMicros(debits)
    expect(total).toBe(370_208n)
    expect(chargedFields(total, debits)).toEqual({
      credits: '0.370208',
      charges: [
        { charge: 'in', meterName: 'input', units: 1234, credits: '0.3702' },
        { charge: 'out', meterName: 'output', units: 1, credits: '0.0000075' },
      ],
    })
    expect(affordableCalls(1_000_000n, debits)).toBe(2)
  })

  it('ignores dimensions that every object inherits', () => {
    const debit = { where: { constructor: ['x'] }, creditsPerUnit: '1' }
    const event = { meterName: 'input', value: 1_000_000, counts: [], dimensions: {} }
    const charges = [{ key: 'in', meterName: 'input', cap: null, debit }]
    expect(chargeDebits(charges, event)).toEqual([])
  })
})

describe('the highest rate', () => {
  it('is that of the most expensive row or of all other events', () => {
    fc.assert(
      fc.property(priced, (price) => {
        const all = [price.rate, ...price.rows.map((row) => row.rate)].map(({ picos }) => picos)
        const highest = all.reduce((one, other) => (one > other ? one : other))
        expect(highestRatePicos(chargeOf(price, 0).debit!)).toBe(highest)
      }),
    )
  })
})
