import type { Charge } from '@tollgate/schemas/http/charges'
import { expect, test } from 'vitest'
import { createTestPlan } from '../../test/test-plan.ts'
import type { Plan, PlanTerms } from '../plans/plan.ts'
import { ownMicros } from './own-units.ts'

const plan = (type: Plan['type'], terms: PlanTerms): Plan => createTestPlan({ type, terms })
const postPaid = { billingModel: 'post-paid', creditsPerUnit: 1 } as const
const overage = { overagePolicy: { allowOverage: true, overageRate: 1, maxOverage: 7 } }
const charge = (fields: Partial<Charge>): Charge => ({
  ...{ meter: 'tokens', model: 'per_unit', per: 'period' },
  ...fields,
})
const charged = (type: Plan['type'], ...charges: Charge[]): Plan =>
  plan(type, { billingModel: 'post-paid', charges })

/** The units of `tokens` for plans with charges, otherwise those of `requests`. */
test.each<[string, Plan, number | null]>([
  ['the cap of a recurring plan', plan('recurring', { limit: 10 }), 10],
  ['no limit', plan('recurring', {}), null],
  ['the cap of a pre-paid plan', plan('usage-based', { creditsPerUnit: 1, limit: 8 }), 8],
  ['the free units of a post-paid plan', plan('usage-based', { ...postPaid, freeUnits: 3 }), 3],
  [
    'the free units below a hard limit',
    plan('usage-based', { ...postPaid, limit: 9, freeUnits: 3 }),
    3,
  ],
  ['nothing if each unit is billed', plan('usage-based', postPaid), 0],
  [
    'the units that a hybrid plan includes',
    plan('hybrid', { limit: 5, freeUnits: 2, ...overage }),
    7,
  ],
  ['the cap of a charge', charged('recurring', charge({ cap: 4 })), 4],
  ['the included units of a charge', charged('hybrid', charge({ included: 6, price: '1' })), 6],
  ['nothing if a charge prices each unit', charged('hybrid', charge({ price: '1' })), 0],
  [
    'any number for a charge with a filter',
    charged('hybrid', charge({ price: '1', where: { a: ['b'] } })),
    null,
  ],
  [
    'any number for another meter',
    charged('hybrid', charge({ meter: 'images', price: '1' })),
    null,
  ],
])('the plan provides %s before packs', (_, given, units) => {
  const meterName = given.terms.charges === undefined ? 'requests' : 'tokens'
  expect(ownMicros(given, meterName)).toBe(units === null ? null : BigInt(units) * 1_000_000n)
})

test('adds units carried over to the cap, and to included units', () => {
  expect(ownMicros(plan('recurring', { limit: 10 }), 'requests', 5_000_000n)).toBe(15_000_000n)
  const hybrid = plan('hybrid', { limit: 5, ...overage })
  expect(ownMicros(hybrid, 'requests', 5_000_000n)).toBe(10_000_000n)
})
