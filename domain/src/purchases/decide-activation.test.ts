import { describe, expect, test } from 'vitest'
import { createTestPlan } from '../../test/test-plan.ts'
import { boughtPlan } from '../../test/bought-plans.ts'
import type { Plan } from '../plans/plan.ts'
import type { Product } from '../catalog/products-repository.ts'
import { decideActivation } from './decide-activation.ts'
import { canStartTrial } from '../billing/start-trial.ts'
import type { Purchase } from './repository.ts'

const now = new Date('2026-03-01T00:00:00Z')

describe('decideActivation, for a first activation', () => {
  test.each<[string, Partial<Plan>, 'activate' | 'payment-required']>([
    ['of a free plan', {}, 'activate'],
    ['of a plan with a price', { priceMinor: 1 }, 'payment-required'],
    ['of a free plan with a set-up fee', { setupFeeMinor: 1 }, 'payment-required'],
    ['of a hybrid plan that charges only for usage', hybrid(), 'activate'],
    ['of a hybrid plan with a trial', hybrid({ trialDays: 14 }), 'payment-required'],
    ['of a hybrid plan with a base price', { ...hybrid(), basePriceMinor: 1 }, 'payment-required'],
    ['of a usage-based plan', { type: 'usage-based', priceMinor: 1 }, 'activate'],
  ])('decides the activation %s', (_, fields, kind) => {
    expect(decide(createTestPlan(fields), undefined).kind).toBe(kind)
  })
})

describe('decideActivation, for a plan that ended in this period', () => {
  test.each<[string, Partial<Plan>, 'activate' | 'payment-required' | 'invalid']>([
    ['of a free plan', {}, 'invalid'],
    // The fee was paid before, and the plan costs nothing else.
    ['of a free plan with a set-up fee', { setupFeeMinor: 1 }, 'invalid'],
    ['of a hybrid plan that charges only for usage', hybrid(), 'activate'],
    ['of a hybrid plan whose trial was used', hybrid({ trialDays: 14 }), 'activate'],
    ['of a plan with a price', { priceMinor: 1 }, 'payment-required'],
  ])('decides the activation %s', (_, fields, kind) => {
    const plan = createTestPlan({
      ...fields,
      terms: { ...createTestPlan(fields).terms, limit: 10 },
    })
    expect(decide(plan, endedOf(plan)).kind).toBe(kind)
  })
})

test('offers the trial of a plan that charges only for usage once', () => {
  const plan = createTestPlan(hybrid({ trialDays: 14 }))
  const input = inputOf(plan, undefined)
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
    ['a hybrid plan that charges only for usage', hybrid(required)],
  ])('starts %s only with a card', (_, fields) => {
    const plan = createTestPlan(fields)
    expect(decide(plan, undefined)).toMatchObject({
      kind: 'card-required',
      start: { kind: 'activate', plan },
    })
    expect(decide(plan, undefined, false, true).kind).toBe('activate')
  })

  test('requires the payment first if the plan has a price or a trial', () => {
    const paid = createTestPlan({ priceMinor: 1, terms: { billingCycle: 'monthly', ...required } })
    expect(decide(paid, undefined).kind).toBe('payment-required')
    const tried = createTestPlan(hybrid({ trialDays: 7, ...required }))
    expect(canStartTrial(inputOf(tried, undefined))).toBe(true)
  })

  test('keeps an active purchase after the card is removed', () => {
    const plan = createTestPlan(postPaid)
    const held: Purchase = { ...endedOf(plan), status: 'active', endedAt: null, endDate: null }
    expect(decide(plan, held).kind).toBe('already-active')
  })

  test('requires unpaid invoices to be paid before the card', () => {
    expect(decide(createTestPlan(postPaid), undefined, true).kind).toBe('payment-required')
  })
})

describe('a customer with unpaid invoices for the product', () => {
  test.each<[string, Partial<Plan>]>([
    ['a free plan', {}],
    ['a plan with a price', { priceMinor: 1 }],
    ['a post-paid plan', { type: 'usage-based' }],
    ['a plan with a trial', { priceMinor: 1, terms: { billingCycle: 'monthly', trialDays: 7 } }],
  ])('must pay them before %s starts', (_, fields) => {
    const plan = createTestPlan(fields)
    expect(decide(plan, undefined, true)).toMatchObject({
      kind: 'payment-required',
      hasDebts: true,
    })
    expect(canStartTrial(inputOf(plan, undefined, true, true))).toBe(false)
  })

  test('keeps a plan that still gives access', () => {
    const plan = createTestPlan({})
    const held: Purchase = { ...endedOf(plan), status: 'past_due', endedAt: null, endDate: null }
    expect(decide(plan, held, true).kind).toBe('already-active')
  })
})

const product = { status: 'active', reference: 'prd_A', name: 'API' } as Product

function decide(...given: Parameters<typeof inputOf>) {
  return decideActivation(inputOf(...given))
}

function inputOf(plan: Plan, lastOfPlan: Purchase | undefined, hasDebts = false, hasCard = false) {
  const isFirstCharge = (lastOfPlan?.paidAt ?? null) === null
  const purchases = { last: lastOfPlan, lastOfPlan, isFirstCharge }
  return { product, plan, ...purchases, isSoldOut: false, hasDebts, hasCard, now }
}

function endedOf(plan: Plan): Purchase {
  return boughtPlan(plan, now, { status: 'expired', endedAt: now, endDate: now })
}

function hybrid(terms: Plan['terms'] = {}): Partial<Plan> {
  const usageTiers = [{ minUsage: 0, creditsPerUnit: 1 }]
  return { type: 'hybrid', terms: { billingCycle: 'monthly', usageTiers, ...terms } }
}
