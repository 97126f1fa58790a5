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
const book = { ...planOf('book', 900), type: 'one-time' } as const
const held = boughtPlan(pro, new Date('2026-06-01T00:00:00Z'))

const nothing: PlanSaleFacts = {
  ...{ plan: pro, held: undefined, buysCredits: false, isForNothing: false },
  ...{ isSoldOut: false, isForbiddenByCheckout: false, now },
}

const inTheWay = { isSoldOut: true, isForbiddenByCheckout: true }

test.each<[string, Partial<PlanSaleFacts>, object]>([
  ['begins for a customer without a plan', {}, { kind: 'begin' }],
  ['begins if the plan costs more than the current one', { plan: big, held }, { kind: 'begin' }],
  [
    'adds credits to the current plan, whatever else would prevent a sale',
    { held, buysCredits: true, ...inTheWay },
    { kind: 'add-credits', held },
  ],
  ['is refused for the current plan', { held, ...inTheWay }, refused('The plan was paid already')],
  [
    'begins for the current plan if its renewal is past due',
    { held: { ...held, status: 'past_due' } },
    { kind: 'begin' },
  ],
  [
    'begins for the current plan if it is bought once and paid again',
    { plan: book, held: boughtPlan(book, new Date('2026-06-01T00:00:00Z')) },
    { kind: 'begin' },
  ],
  [
    'is refused for the current plan if it is bought once and costs nothing',
    { plan: book, held: boughtPlan(book, new Date('2026-06-01T00:00:00Z')), isForNothing: true },
    refused('The customer has the plan already'),
  ],
  ['begins if discounts leave nothing', { plan: book, isForNothing: true }, { kind: 'begin' }],
  ['is refused if the plan is sold out', { isSoldOut: true }, refused('The plan is sold out')],
  [
    'is refused if a bound checkout would end another plan',
    { plan: small, held, isForbiddenByCheckout: true },
    refused('The checkout may not end another plan'),
  ],
  [
    'is refused for a cheaper plan within the notice',
    { plan: small, held },
    refused('The plan before is held by its notice'),
  ],
])('a sale %s', (_, facts, decision) => {
  expect(decidePlanSale({ ...nothing, ...facts })).toEqual(decision)
})

function refused(reason: string) {
  return { kind: 'undeliverable', reason }
}
