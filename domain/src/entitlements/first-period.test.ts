import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { windowId } from '@tollgate/schemas/hot-state/documents'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planOfPeriod } from '../plans/included-units.ts'
import { rolledOverMicros } from '../pricing/roll-over.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { allowedMicros } from './allowed-units.ts'
import { carriedOverMicros } from './carried-over.ts'
import { compileEntitlement } from './compile-entitlement.ts'

/*
 * Limits that releases with and without support for `firstPeriod` and `laterPeriods` read from the same published
 * document.
 */

const startDate = new Date('2025-03-01T00:00:00Z')
const nowMs = startDate.getTime()
const unit = 1_000_000n

type Case = {
  readonly plan: PlanSnapshot
  readonly firstIncludedMicros: bigint
  /** Usage of each period. */
  readonly usedMicros: readonly bigint[]
}

const microsUpTo = (units: number) => fc.bigInt(0n, BigInt(units) * unit)

const cases: fc.Arbitrary<Case> = fc
  .record({
    type: fc.constantFrom<'recurring' | 'hybrid'>('recurring', 'hybrid'),
    limit: fc.integer({ min: 1, max: 20 }),
    freeUnits: fc.integer({ min: 1, max: 20 }),
    rolloverUnusedUnits: fc.boolean(),
    allowOverage: fc.boolean(),
    maxUnbilledUnits: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    firstIncludedMicros: microsUpTo(45),
    usedMicros: fc.tuple(microsUpTo(45), microsUpTo(45)),
  })
  .map(({ type, allowOverage, maxUnbilledUnits, firstIncludedMicros, usedMicros, ...terms }) => {
    const plan: PlanSnapshot = {
      reference: 'pln_A',
      name: 'Pro',
      type,
      priceMinor: 100,
      basePriceMinor: null,
      setupFeeMinor: null,
      currency: 'USD',
      meterRef: null,
      terms: {
        ...terms,
        billingCycle: 'monthly',
        overagePolicy: { allowOverage },
        ...(maxUnbilledUnits === undefined ? {} : { maxUnbilledUnits }),
      },
    }
    return { plan, firstIncludedMicros, usedMicros }
  })

function purchaseOf({ firstIncludedMicros }: { readonly firstIncludedMicros: bigint | null }) {
  return {
    reference: 'pur_A',
    customerRef: 'cus_a',
    anchor: startDate,
    cycleMode: 'calendar' as const,
    startDate,
    endDate: null,
    suspendedAt: null,
    accessRestoredAt: null,
    carriedInto: null,
    allowance: null,
    carriedOverMicros: null,
    firstIncludedMicros,
  }
}

const context = { now: startDate, customerRefs: ['cus_a'] }

/** Returns what a reader of the document allows in each of the first 3 periods. */
function read(entitlement: Entitlement, { usedMicros }: Case): (bigint | null)[] {
  return entitlement.periods.slice(0, 3).map((period, index) => {
    const amounts = new Map(
      usedMicros
        .slice(0, index)
        .map((used, before) => [windowId('pur_A', entitlement.periods[before]!.startSecond), used]),
    )
    const carried = carriedOverMicros(entitlement, period, amounts, nowMs)
    return allowedMicros(entitlement, period, carried)
  })
}

/** Returns what the plan allows in each of the first 3 periods. */
function truth(given: Case, { periods }: Entitlement): (bigint | null)[] {
  const { plan, usedMicros } = given
  return periods.slice(0, 3).map((period, index) => {
    const inPeriod = (at: number) =>
      planOfPeriod(plan, purchaseOf(given), { start: new Date(periods[at]!.startSecond * 1_000) })
    const unshared = purchaseOf({ firstIncludedMicros: null })
    const carried = index === 0 ? 0n : rolledOverMicros(inPeriod(index - 1), usedMicros[index - 1]!)
    return allowedMicros(compileEntitlement(unshared, inPeriod(index), context), period, carried)
  })
}

function published(given: Case): Entitlement {
  const compiled = compileEntitlement(purchaseOf(given), given.plan, context)
  return JSON.parse(JSON.stringify(compiled)) as Entitlement
}

it('publishes limits that allow the units of the plan in each period', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const entitlement = published(given)
      expect(read(entitlement, given)).toEqual(truth(given, entitlement))
    }),
    { numRuns: 2_000 },
  )
})

it.each([{ unknown: ['firstPeriod', 'laterPeriods'] }, { unknown: ['laterPeriods'] }])(
  'allows no more to a reader without $unknown',
  ({ unknown }) => {
    fc.assert(
      fc.property(cases, (given) => {
        const entitlement = published(given)
        const known = Object.entries(entitlement).filter(([name]) => !unknown.includes(name))
        const old = read(Object.fromEntries(known) as Entitlement, given)
        truth(given, entitlement).forEach((allowed, index) => {
          const admitted = old[index]!
          if (allowed === null) return
          expect(admitted).not.toBeNull()
          expect(admitted).toBeLessThanOrEqual(allowed)
        })
      }),
      { numRuns: 2_000 },
    )
  },
)
