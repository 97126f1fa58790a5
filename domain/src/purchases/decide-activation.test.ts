import { describe, expect, test } from 'vitest'
import { createTestPlan } from '../../test/test-plan.ts'
import type { Plan } from '../plans/plan.ts'
import type { Product } from '../catalog/products-repository.ts'
import { decideActivation } from './decide-activation.ts'
import { canStartTrial } from '../billing/start-trial.ts'
import { unpaidPurchase } from './new-purchase.ts'
import type { Purchase } from './repository.ts'

const now = new Date('2026-03-01T00:00:00Z')

describe('the first activation', () => {
  test.each<[string, Partial<Plan>, 'activate' | 'payment-required']>([
    ['of a free plan', {}, 'activate'],
    ['of a plan with a price', { priceMinor: 1 }, 'payment-required'],
    ['of a free plan with a set-up fee', { setupFeeMinor: 1 }, 'payment-required'],
    ['of a hybrid plan that charges for usage alone', hybrid(), 'activate'],
    ['of a hybrid plan with a trial', hybrid({ trialDays: 14 }), 'payment-required'],
    ['of a hybrid plan with a base price', { ...hybrid(), basePriceMinor: 1 }, 'payment-required'],
    ['of a usage-based plan', { type: 'usage-based', priceMinor: 1 }, 'activate'],
  ])('%s', (_, fields, kind) => {
    expect(decide(createTestPlan(fields), undefined).kind).toBe(kind)
  })
})

describe('a later activation of a plan that ended in this period', () => {
  test.each<[string, Partial<Plan>, 'activate' | 'payment-required' | 'invalid']>([
    ['of a free plan', {}, 'invalid'],
    // The fee was paid before, and the plan costs nothing else.
    ['of a free plan with a set-up fee', { setupFeeMinor: 1 }, 'invalid'],
    ['of a hybrid plan that charges for usage alone', hybrid(), 'activate'],
    ['of a hybrid plan that was tried', hybrid({ trialDays: 14 }), 'activate'],
    ['of a plan with a price', { priceMinor: 1 }, 'payment-required'],
  ])('%s', (_, fields, kind) => {
    const plan = createTestPlan({
      ...fields,
      terms: { ...createTestPlan(fields).terms, limit: 10 },
    })
    expect(decide(plan, endedOf(plan)).kind).toBe(kind)
  })
})

test('a plan that charges for usage alone can be tried once', () => {
  const plan = createTestPlan(hybrid({ trialDays: 14 }))
  const input = {
    product,
    plan,
    last: undefined,
    lastOfPlan: undefined,
    isFirstCharge: true,
    isSoldOut: false,
    hasDebts: false,
    hasCard: false,
    now,
  }
  expect(canStartTrial(input)).toBe(true)
  expect(canStartTrial({ ...input, lastOfPlan: endedOf(plan) })).toBe(false)
})

describe('a plan that requires a saved card', () => {
  const required = { requiresPaymentMethod: true }
  const postPaid: Partial<Plan> = {
    type: 'usage-based',
    terms: { billingCycle: 'monthly', billingModel: 'post-paid', creditsPerUnit: 1, ...required },
  }

  test.each<[string, Partial<Plan>]>([
    ['a post-paid plan', postPaid],
    ['a hybrid plan that charges for usage alone', hybrid(required)],
  ])('%s starts with a card alone', (_, fields) => {
    const plan = createTestPlan(fields)
    expect(decide(plan, undefined)).toMatchObject({
      kind: 'card-required',
      start: { kind: 'activate', plan },
    })
    expect(decide(plan, undefined, false, true).kind).toBe('activate')
  })

  test('is paid first where it has a price, and its trial is asked about by the checkout', () => {
    const paid = createTestPlan({ priceMinor: 1, terms: { billingCycle: 'monthly', ...required } })
    expect(decide(paid, undefined).kind).toBe('payment-required')
    const tried = { product, plan: createTestPlan(hybrid({ trialDays: 7, ...required })), now }
    const input = { ...tried, last: undefined, lastOfPlan: undefined, isFirstCharge: true }
    expect(canStartTrial({ ...input, isSoldOut: false, hasDebts: false, hasCard: false })).toBe(
      true,
    )
  })

  test('goes on without one once it is held', () => {
    const plan = createTestPlan(postPaid)
    const held: Purchase = { ...endedOf(plan), status: 'active', endedAt: null, endDate: null }
    expect(decide(plan, held).kind).toBe('already-active')
  })

  test('comes after unpaid invoices', () => {
    expect(decide(createTestPlan(postPaid), undefined, true).kind).toBe('payment-required')
  })
})

describe('a customer with unpaid invoices for the product', () => {
  test.each<[string, Partial<Plan>]>([
    ['a free plan', {}],
    ['a plan with a price', { priceMinor: 1 }],
    ['a post-paid plan', { type: 'usage-based' }],
    ['a plan with a trial', { priceMinor: 1, terms: { billingCycle: 'monthly', trialDays: 7 } }],
  ])('pays them before %s starts', (_, fields) => {
    const plan = createTestPlan(fields)
    expect(decide(plan, undefined, true)).toMatchObject({
      kind: 'payment-required',
      hasDebts: true,
    })
    const input = { product, plan, last: undefined, lastOfPlan: undefined, isFirstCharge: true }
    expect(canStartTrial({ ...input, isSoldOut: false, hasDebts: true, hasCard: true, now })).toBe(
      false,
    )
  })

  test('keeps the plan that still gives access', () => {
    const plan = createTestPlan({})
    const held: Purchase = { ...endedOf(plan), status: 'past_due', endedAt: null, endDate: null }
    expect(decide(plan, held, true).kind).toBe('already-active')
  })
})

const product = { status: 'active', reference: 'prd_A', name: 'API' } as Product

function decide(plan: Plan, lastOfPlan: Purchase | undefined, hasDebts = false, hasCard = false) {
  const isFirstCharge = (lastOfPlan?.paidAt ?? null) === null
  return decideActivation({
    product,
    plan,
    last: lastOfPlan,
    lastOfPlan,
    isFirstCharge,
    isSoldOut: false,
    hasDebts,
    hasCard,
    now,
  })
}

function endedOf(plan: Plan): Purchase {
  const customer = { reference: 'cus_A', email: 'ada@example.com' }
  const given = { customer, product, plan, cycleMode: 'calendar', origin: 'manual', now } as const
  const purchase = unpaidPurchase({ ...given, customer: customer as never })
  return { ...purchase, status: 'expired', paidAt: now, endedAt: now, endDate: now }
}

function hybrid(terms: Plan['terms'] = {}): Partial<Plan> {
  const usageTiers = [{ minUsage: 0, creditsPerUnit: 1 }]
  return { type: 'hybrid', terms: { billingCycle: 'monthly', usageTiers, ...terms } }
}
