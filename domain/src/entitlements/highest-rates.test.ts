import fc from 'fast-check'
import type { DebitTerms, EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import { expect, it } from 'vitest'
import { chargeDebits, totalDebitMicros } from './charge-debits.ts'
import { highestDebitMicros, highestMeterPicos } from './highest-rates.ts'

const picosPerCredit = 10n ** 12n
const values = { model: ['small', 'large', 'huge'], region: ['eu', 'us'] }
const rate = fc.bigInt({ min: 0n, max: 10n ** 15n }).map((picos) => {
  return `${picos / picosPerCredit}.${String(picos % picosPerCredit).padStart(12, '0')}`
})
const when = fc.record(
  { model: fc.constantFrom(...values.model), region: fc.constantFrom(...values.region) },
  { requiredKeys: [] },
)
const where = fc.record(
  {
    model: fc.subarray(values.model, { minLength: 1 }),
    region: fc.subarray(values.region, { minLength: 1 }),
  },
  { requiredKeys: [] },
)
const debit: fc.Arbitrary<DebitTerms> = fc.record(
  {
    where,
    rows: fc.array(fc.record({ when, creditsPerUnit: rate }), { maxLength: 3 }),
    creditsPerUnit: rate,
  },
  { requiredKeys: ['creditsPerUnit'] },
)
const charges: fc.Arbitrary<EntitledCharge[]> = fc
  .array(fc.record({ meterName: fc.constantFrom('tokens', 'images'), debit }), { maxLength: 5 })
  .map((all) => all.map((each, index) => ({ ...each, key: `charge-${index}`, cap: null })))

/** Every event that the charges can tell apart, with one unit of the meter. */
const events = (meterName: string) =>
  [...values.model, undefined].flatMap((model) =>
    [...values.region, undefined].map((region) => ({
      ...{ meterName, value: 1_000_000, counts: [] },
      dimensions: { ...(model && { model }), ...(region && { region }) },
    })),
  )

it('is the cost of the dearest event, so that a debit never exceeds a hold and one reaches it', () => {
  fc.assert(
    fc.property(charges, (all) => {
      for (const meterName of ['tokens', 'images']) {
        const costs = events(meterName).map((event) =>
          chargeDebits(all, event).reduce((sum, { attoCredits }) => sum + attoCredits, 0n),
        )
        const dearest = costs.reduce((most, cost) => (cost > most ? cost : most), 0n)
        expect(highestMeterPicos(all, meterName) * 1_000_000n).toBe(dearest)
      }
    }),
    { numRuns: 1_000 },
  )
})

it('adds charges that one event can pass, and not those that exclude each other', () => {
  const of = (key: string, creditsPerUnit: string, more: object = {}): EntitledCharge => {
    return { key, meterName: 'tokens', cap: null, debit: { creditsPerUnit, ...more } }
  }
  const all = [
    of('base', '1'),
    of('small', '2', { where: { model: ['small'] } }),
    of('large', '4', { where: { model: ['large'] } }),
    of('eu', '0.5', { where: { region: ['eu'] } }),
  ]
  expect(highestMeterPicos(all, 'tokens')).toBe((11n * picosPerCredit) / 2n)
  const units = new Map([['tokens', 3_000_000n]])
  expect(highestDebitMicros(all, units)).toBe(16_500_000n)
  const dimensions = { model: 'large', region: 'eu' }
  const event = { meterName: 'tokens', value: 3_000_000, counts: [], dimensions }
  expect(totalDebitMicros(chargeDebits(all, event))).toBe(16_500_000n)
})

it('is at least that cost for charges with too many values to try all', () => {
  const names = Array.from({ length: 8 }, (_, index) => `dimension-${index}`)
  const all = names.map((name, index): EntitledCharge => {
    const rows = Array.from({ length: 20 }, (_, row) => {
      return { when: { [name]: `${row}` }, creditsPerUnit: `${row}` }
    })
    const terms = { rows, creditsPerUnit: '0.5' }
    return { key: `${index}`, meterName: 'tokens', cap: null, debit: terms }
  })
  expect(highestMeterPicos(all, 'tokens')).toBe(8n * 19n * picosPerCredit)
})
