import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crossedThresholds, warningMicrosOf } from './balance-thresholds.ts'
import { allocateBurn } from './burn-order.ts'
import type { CreditGrant } from './grants.ts'

const credit = 1_000_000n

describe('crossedThresholds', () => {
  it.each([
    ['no threshold above the warning', 2_000n, 1_500n, []],
    ['the warning when the balance reaches it', 1_001n, 1_000n, ['low_balance']],
    ['no threshold below the warning', 1_000n, 999n, []],
    ['exhaustion', 500n, 0n, ['exhausted']],
    ['both thresholds', 5_000n, 0n, ['low_balance', 'exhausted']],
    ['no threshold at 0', 0n, 0n, []],
  ])('%s', (_name, before, after, crossings) => {
    expect(crossedThresholds(before * credit, after * credit, 1_000n * credit)).toEqual(crossings)
  })

  it('reports exhaustion when less than 1 credit is left', () => {
    expect(crossedThresholds(credit, credit - 1n, 0n)).toEqual(['exhausted'])
    expect(crossedThresholds(credit - 1n, 0n, 0n)).toEqual(['low_balance'])
  })

  it('reports each threshold once on any way down', () => {
    const steps = fc.array(fc.bigInt({ min: 0n, max: 500n * credit }), { minLength: 1 })
    fc.assert(
      fc.property(steps, fc.bigInt({ min: 0n, max: 2_000n * credit }), (falls, warning) => {
        let balance = 3_000n * credit
        const crossings: string[] = []
        for (const fall of [...falls, 3_000n * credit]) {
          const after = balance - (fall < balance ? fall : balance)
          crossings.push(...crossedThresholds(balance, after, warning))
          balance = after
        }
        expect(crossings.toSorted()).toEqual(['exhausted', 'low_balance'])
      }),
    )
  })
})

it.each([
  ['the setting of the provider', 7n, 100, 7n],
  ['0 if the provider sets it to 0', 0n, 100, 0n],
  ['the price of 10 units by default', null, 100, 1_000n],
  ['1,000 credits if units have no price', null, undefined, 1_000n],
  ['1,000 credits if the price of a unit is 0', null, 0, 1_000n],
])('the warning threshold is %s', (_name, own, perUnit, credits) => {
  expect(warningMicrosOf(own, perUnit)).toBe(credits * credit)
})

describe('allocateBurn', () => {
  const grant = (reference: string, more: Partial<CreditGrant> = {}): CreditGrant => ({
    reference,
    grantedMicros: 10n,
    remainingMicros: 10n,
    inFlightMicros: 0n,
    priority: 0,
    expiresAt: null,
    paid: null,
    createdAt: new Date(1_000),
    ...more,
  })

  it('uses grants by priority, then by expiry, then oldest first', () => {
    const grants = [
      grant('young', { createdAt: new Date(2_000) }),
      grant('old'),
      grant('expires', { expiresAt: new Date(9_000), createdAt: new Date(3_000) }),
      grant('first', { priority: -1, createdAt: new Date(4_000) }),
    ]
    expect(allocateBurn(grants, 35n)).toEqual([
      { grantRef: 'first', micros: 10n },
      { grantRef: 'expires', micros: 10n },
      { grantRef: 'old', micros: 10n },
      { grantRef: 'young', micros: 5n },
    ])
  })

  it('allocates the whole amount, no more than each grant has, and only the last grant in part', () => {
    const micros = fc.bigInt({ min: 1n, max: 1_000n })
    const many = fc.array(
      fc.record({ remainingMicros: micros, priority: fc.integer({ min: 0, max: 2 }) }),
    )
    fc.assert(
      fc.property(many, fc.nat(100), (given, percent) => {
        const grants = given.map((each, index) => grant(`g${index}`, each))
        const held = grants.reduce((sum, { remainingMicros }) => sum + remainingMicros, 0n)
        const amount = (held * BigInt(percent)) / 100n
        const burns = allocateBurn(grants, amount)
        expect(burns.reduce((sum, burn) => sum + burn.micros, 0n)).toBe(amount)
        const left = burns.map(({ grantRef, micros: taken }) => {
          return grants.find(({ reference }) => reference === grantRef)!.remainingMicros - taken
        })
        expect(left.slice(0, -1).every((each) => each === 0n)).toBe(true)
        expect(left.every((each) => each >= 0n)).toBe(true)
        expect(() => allocateBurn(grants, held + 1n)).toThrow('that were used')
      }),
    )
  })
})
