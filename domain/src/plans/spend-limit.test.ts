import type { Charge } from '@tollgate/schemas/http/charges'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { oracleChargePrice } from '../../test/charge-oracle.ts'
import { Rational } from '../../test/pricing-oracle.ts'
import { spendLimitFaults } from '../catalog/spend-limit-faults.ts'
import { unitsOfLimit } from './spend-limit.ts'

const tokens: Charge = { meter: 'tokens', model: 'per_unit', per: 'period', price: '0.003' }
const limitOf = (cap: number, more: Partial<UsageLimit> = {}): UsageLimit => ({
  ...{ meter: 'tokens', cap, per: 'day', unit: 'money', ...more },
})

describe('a limit in money or credits', () => {
  test.each<[string, UsageLimit, Charge, bigint | null]>([
    ['is that many units', limitOf(6), tokens, 2_000_000_000n],
    ['rounds down to 10^-6 units', limitOf(1), { ...tokens, price: '3' }, 333_333n],
    ['is in units without a unit', limitOf(6, { unit: undefined }), tokens, 6_000_000n],
    ['does not count another unit', limitOf(6, { unit: 'credits' }), tokens, null],
    ['does not limit what costs nothing', limitOf(6), { ...tokens, price: '0' }, null],
    [
      'begins after the included units of a period',
      limitOf(6, { per: 'period' }),
      { ...tokens, included: 5 },
      2_005_000_000n,
    ],
    [
      'counts included units in other windows',
      limitOf(6),
      { ...tokens, included: 5 },
      2_000_000_000n,
    ],
    [
      'is whole packages',
      limitOf(7),
      { ...tokens, model: 'package', unitsPerPackage: 10, price: '2' },
      30_000_000n,
    ],
    [
      'assumes the highest price',
      limitOf(16),
      { ...tokens, model: 'matrix', price: '4', rows: [{ when: { model: 'large' }, price: '8' }] },
      2_000_000n,
    ],
  ])('%s', (_, limit, charge, units) => {
    expect(unitsOfLimit(limit, [charge])).toBe(units)
  })

  test.each<[string, UsageLimit, Partial<Charge>, string]>([
    ['without a price in its unit', limitOf(1, { unit: 'credits' }), {}, 'unit'],
    [
      'of a price that depends on dimensions',
      limitOf(1),
      { model: 'matrix', rows: [{ when: { model: 'a' }, price: '1' }] },
      'unit',
    ],
    ['of filtered records', limitOf(1), { where: { model: ['a'] } }, 'unit'],
    [
      'of tiers',
      limitOf(1),
      { model: 'volume', price: undefined, tiers: [{ upTo: null, price: '1' }] },
      'unit',
    ],
    ['below one package', limitOf(1), { model: 'package', unitsPerPackage: 5, price: '2' }, 'cap'],
    ['of units that cost nothing', limitOf(1), { price: '0' }, 'unit'],
  ])('is refused: %s', (_, limit, charge, field) => {
    const faults = spendLimitFaults(limit, [{ ...tokens, ...charge }])
    expect(faults.map(({ path }) => path)).toEqual([[field]])
  })

  test('never allows units that cost more, and allows all that cost no more', () => {
    const price = fc.integer({ min: 1, max: 5_000 }).map((part) => (part / 1000).toFixed(3))
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        price,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom('per_unit' as const, 'package' as const),
        (cap, each, unitsPerPackage, included, model) => {
          const terms = { model, price: each, included: String(included) }
          const sold = model === 'package' ? { unitsPerPackage: String(unitsPerPackage) } : {}
          const charge: Charge = {
            ...{ meter: 'tokens', per: 'period', model, price: each, included },
            ...(model === 'package' ? { unitsPerPackage } : {}),
          }
          const allowed = unitsOfLimit(limitOf(cap, { per: 'period' }), [charge])!
          const costOf = (micros: bigint) =>
            oracleChargePrice(
              { ...terms, ...sold },
              { used: textOf(micros), carriedOver: '0', before: '0' },
            )
          const most = Rational.of(BigInt(cap))
          expect(most.isLessThan(costOf(allowed))).toBe(false)
          expect(most.isLessThan(costOf(allowed + 1n))).toBe(true)
        },
      ),
      { seed: Date.now() | 0 },
    )
  })
})

function textOf(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
