import { expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan as planOf } from '../../test/bought-plans.ts'
import { decidePlanSale, type PlanSaleFacts } from './decide-plan-sale.ts'

/* A monthly plan with a notice of 7 days, held since 1 June. Facts are stated in the order in which they decide. */

const now = new Date('2026-06-11T00:00:00Z')
const [pro, small, big] = [
  planOf('pro', 4_900, { cancellationNoticeDays: 7 }),
  planOf('small', 900),
  planOf('big', 9_900),
]
const held = boughtPlan(pro, new Date('2026-06-01T00:00:00Z'))

const nothing: PlanSaleFacts = {
  ...{ plan: pro, held: undefined, buysCredits: false },
  ...{ isSoldOut: false, isBeyondCheckout: false, now },
}

const inTheWay = { isSoldOut: true, isBeyondCheckout: true }

test.each<[string, Partial<PlanSaleFacts>, object]>([
  ['to a customer without a plan', {}, { kind: 'begin' }],
  ['of a plan that costs more than the one held', { plan: big, held }, { kind: 'begin' }],
  [
    'of credits for the plan held, whatever else is in the way',
    { held, buysCredits: true, ...inTheWay },
    { kind: 'add-credits', held },
  ],
  ['of the plan held', { held, ...inTheWay }, refused('The plan was paid already')],
  [
    'of the plan held whose renewal is past due',
    { held: { ...held, status: 'past_due' } },
    { kind: 'begin' },
  ],
  ['of a plan that is sold out', { isSoldOut: true }, refused('The plan is sold out')],
  [
    'that a bound checkout would end another plan for',
    { plan: small, held, isBeyondCheckout: true },
    refused('The checkout may not end another plan'),
  ],
  [
    'of a cheaper plan within a notice',
    { plan: small, held },
    refused('The plan before is held by its notice'),
  ],
])('a sale %s', (_, facts, decision) => {
  expect(decidePlanSale({ ...nothing, ...facts })).toEqual(decision)
})

function refused(reason: string) {
  return { kind: 'undeliverable', reason }
}
