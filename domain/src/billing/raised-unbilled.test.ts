import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oraclePrice, Rational, type OraclePlan } from '../../test/pricing-oracle.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { usageLines } from '../pricing/charges.ts'
import { raisedUnbilled } from './raised-unbilled.ts'

/* The limit of unbilled usage after a bill within a period. */

const june = { start: new Date('2026-06-01T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') }
const reading = { meterName: 'requests', watermark: '2026-06-05T00:00:00.000Z', nextOffsets: {} }
const dollars = { currency: 'USD', unitsPerDollar: '1' }
const inDollars = { unitsPerDollar: '1', decimals: 2 } as const

const numbers = fc.integer({ min: 1, max: 300 })
const plans = fc.record({
  creditsPerUnit: numbers,
  freeUnits: fc.nat(50),
  unitsPerPackage: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  tiers: fc.option(fc.tuple(numbers, numbers, numbers), { nil: undefined }),
})

function planOf(
  { creditsPerUnit, tiers, ...units }: typeof plans extends fc.Arbitrary<infer Plan> ? Plan : never,
  maxUnbilledMinor: number,
): { snapshot: PlanSnapshot; oracle: OraclePlan } {
  const { freeUnits, unitsPerPackage } = units
  const [end, one, rest] = tiers ?? []
  const snapshot = {
    ...{ reference: 'pln_1', name: 'Pro', type: 'usage-based', priceMinor: 0, currency: 'USD' },
    ...{ basePriceMinor: null, setupFeeMinor: null, meterRef: null },
    terms: {
      ...{ billingModel: 'post-paid', billAtUnbilledMinor: 100, maxUnbilledMinor, ...units },
      ...(tiers === undefined
        ? { creditsPerUnit }
        : {
            usageTiers: [
              { name: 'A', minUsage: 0, maxUsage: end!, creditsPerUnit: one! },
              { name: 'B', minUsage: end!, creditsPerUnit: rest! },
            ],
          }),
    },
  } as PlanSnapshot
  const oracle: OraclePlan = {
    type: 'usage-based',
    freeUnits: String(freeUnits),
    creditsPerUnit: String(creditsPerUnit),
    ...(unitsPerPackage === undefined ? {} : { unitsPerPackage: String(unitsPerPackage) }),
    ...(tiers === undefined
      ? {}
      : {
          tiers: [
            { upTo: String(end), creditsPerUnit: String(one) },
            { creditsPerUnit: String(rest) },
          ],
        }),
  }
  return { snapshot, oracle }
}

test('is the last unit that keeps the price of unbilled units within the amount', () => {
  fc.assert(
    fc.property(
      plans,
      fc.integer({ min: 101, max: 5_000 }),
      fc.nat(900),
      (plan, maxMinor, used) => {
        const { snapshot, oracle } = planOf(plan, maxMinor)
        const priceOf = (units: Rational): Rational =>
          oraclePrice(oracle, `${units.over / units.under}.${rest(units)}`, '0', inDollars)
        const usedMicros = BigInt(used) * 1_000_000n
        const usage = { period: june, usedMicros, carriedOverMicros: 0n, reading }
        const lines = usageLines(snapshot, dollars, usage)
        const raised = raisedUnbilled(snapshot, june.start, lines, dollars)!
        expect(raised.periodStart).toBe(june.start)
        const billed = priceOf(Rational.of(BigInt(used)))
        const unbilled = (micros: bigint): Rational =>
          priceOf(Rational.of(micros, 1_000_000n)).minus(billed)
        const most = Rational.of(BigInt(maxMinor))
        expect(most.isLessThan(unbilled(raised.micros))).toBe(false)
        expect(most.isLessThan(unbilled(raised.micros + 1n))).toBe(true)
      },
    ),
    { numRuns: 500 },
  )
})

test('is absent for a plan without a limit', () => {
  const { snapshot } = planOf(
    { creditsPerUnit: 100, freeUnits: 0, unitsPerPackage: undefined, tiers: undefined },
    0,
  )
  const usage = { period: june, usedMicros: 5_000_000n, carriedOverMicros: 0n, reading }
  const lines = usageLines(snapshot, dollars, usage)
  expect(raisedUnbilled(snapshot, june.start, lines, dollars)).toBeUndefined()
})

/** Returns the six decimals of a number of 10^-6 units. */
function rest({ over, under }: Rational): string {
  return (((over % under) * 1_000_000n) / under).toString().padStart(6, '0')
}
