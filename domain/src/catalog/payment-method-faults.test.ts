import { planCreateSchema } from '@tollgate/schemas/http/plans'
import { describe, expect, it } from 'vitest'
import { draftPlan, revisePlan } from './draft-plan.ts'
import { isAutoEnrolled } from '../plans/plan.ts'

const context = { defaultCurrency: 'USD', requestsMeterRef: 'mtr_1', rates: new Map() }
const decide = (input: object) =>
  draftPlan(planCreateSchema.parse({ ...input, requiresPaymentMethod: true }), context)

const postPaid = { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 5 }

describe('requiresPaymentMethod', () => {
  it.each<[string, object]>([
    ['post-paid', postPaid],
    ['hybrid that charges for usage', { type: 'hybrid', creditsPerUnit: 5 }],
    ['a trial of a plan with a price', { price: 900, trialDays: 14 }],
    ['a trial of a hybrid plan', { type: 'hybrid', basePrice: 900, trialDays: 14 }],
  ])('accepts the requirement: %s', (_, input) => {
    const decision = decide(input)
    expect(decision).toMatchObject({ plan: { terms: { requiresPaymentMethod: true } } })
    if (decision.kind === 'accepted') expect(isAutoEnrolled(decision.plan)).toBe(false)
  })

  it.each<[string, object]>([
    ['free', { price: 0 }],
    ['a trial of a free plan', { price: 0, trialDays: 14 }],
    ['a price, paid before it starts', { price: 900 }],
    ['pre-paid', { ...postPaid, billingModel: 'pre-paid' }],
    ['usage that costs nothing', { ...postPaid, creditsPerUnit: 0 }],
    ['one-time', { type: 'one-time', price: 900 }],
  ])('refuses the requirement: %s', (_, input) => {
    const path = ['requiresPaymentMethod']
    expect(decide(input)).toMatchObject({ code: 'PLAN_PRICES_INVALID', issues: [{ path }] })
  })

  it('refuses the requirement if a change removes its reason', () => {
    const tried = decide({ price: 900, trialDays: 14 })
    if (tried.kind === 'refused') throw new Error('refused')
    const path = ['requiresPaymentMethod']
    expect(revisePlan(tried.plan, { trialDays: 0 }, context)).toMatchObject({ issues: [{ path }] })
    const change = { trialDays: 0, requiresPaymentMethod: false }
    expect(revisePlan(tried.plan, change, context)).toMatchObject({ kind: 'accepted' })
  })

  it('keeps a limit check from starting a free plan that requires a card', () => {
    const free = { type: 'recurring', priceMinor: 0, basePriceMinor: null, setupFeeMinor: null }
    const plan = { ...free, type: 'recurring' as const, terms: { requiresPaymentMethod: true } }
    expect(isAutoEnrolled({ ...plan, terms: {} })).toBe(true)
    expect(isAutoEnrolled(plan)).toBe(false)
  })
})
