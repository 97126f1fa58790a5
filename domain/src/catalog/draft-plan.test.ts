import { planCreateSchema } from '@tollgate/schemas/http/plans'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { describe, expect, it } from 'vitest'
import { draftPlan, revisePlan } from './draft-plan.ts'
import type { PlanDecision, PlanDraft } from './draft-plan.ts'

const usageTiers = [{ minUsage: 0, creditsPerUnit: 1 }]
const context = { defaultCurrency: 'USD', requestsMeterRef: 'mtr_REQUESTS', rates: new Map() }

function accepted(decision: PlanDecision): PlanDraft {
  if (decision.kind === 'refused') throw new Error(decision.message)
  return decision.plan
}

const draft = (input: PlanCreateInput) =>
  accepted(draftPlan(planCreateSchema.parse(input), context))

describe('draftPlan', () => {
  it('drafts a free monthly plan, named after its type, from an empty request', () => {
    expect(draft({})).toEqual({
      key: null,
      name: 'recurring',
      description: null,
      type: 'recurring',
      status: 'active',
      isDefault: false,
      hidden: false,
      priceMinor: 0,
      basePriceMinor: null,
      setupFeeMinor: null,
      currency: 'USD',
      meterRef: null,
      terms: { billingCycle: 'monthly' },
    })
  })

  it.each([
    [{ type: 'subscription' }, 'recurring'],
    [{ type: 'usage-based' }, 'usage-based'],
    [{ type: 'hybrid' }, 'hybrid'],
    [{ type: 'one-time' }, 'one-time'],
  ])('reads the type of %j as %s', (input, type) => {
    expect(draft(input).type).toBe(type)
  })

  it.each([
    [{ type: 'recurring', billingCycle: 'weekly' }, 'weekly'],
    [{ type: 'hybrid' }, 'monthly'],
    [{ type: 'usage-based' }, undefined],
    [{ type: 'usage-based', billingCycle: 'monthly' }, 'monthly'],
    [{ type: 'usage-based', billingModel: 'post-paid' }, 'monthly'],
    [{ type: 'one-time', billingCycle: 'monthly' }, undefined],
  ] as const)('gives %j the billing cycle %s', (input, cycle) => {
    expect(draft(input).terms.billingCycle).toBe(cycle)
  })

  it.each([
    [{ type: 'usage-based', freeUnits: 5 }, 0],
    [{ type: 'usage-based', billingModel: 'post-paid', freeUnits: 5 }, 5],
    [{ type: 'recurring', freeUnits: 5 }, 5],
  ] as const)('stores for %j the free units %d', (input, freeUnits) => {
    expect(draft(input).terms.freeUnits).toBe(freeUnits)
  })

  it('ties metered plans to the requests meter', () => {
    for (const type of ['usage-based', 'hybrid']) {
      expect(draft({ type })).toMatchObject({
        meterRef: 'mtr_REQUESTS',
        terms: { measures: 'requests' },
      })
    }
    expect(draft({ type: 'recurring', limit: 5 }).terms.measures).toBeUndefined()
  })

  it('shows the price of the main option', () => {
    const options = [
      { currency: 'eur', price: 900 },
      { currency: 'usd', price: 1000, basePrice: 1000, default: true },
    ]
    const plan = draft({ type: 'hybrid', price: 1, currency: 'gbp', pricingOptions: options })
    expect(plan).toMatchObject({ priceMinor: 1000, basePriceMinor: 1000, currency: 'USD' })
    expect(plan.terms.pricingOptions?.map(({ currency }) => currency)).toEqual(['EUR', 'USD'])
  })

  it.each([
    [{ currency: 'eur' }, 'PLAN_CURRENCY_NOT_PROVIDER_DEFAULT'],
    [{ pricingOptions: [{ currency: 'EUR', price: 1 }] }, 'PLAN_CURRENCY_NOT_PROVIDER_DEFAULT'],
    [{ default: true, price: 1 }, 'PLAN_NOT_ALLOWED_AS_DEFAULT'],
    [{ default: true, type: 'hybrid', basePrice: 1 }, 'PLAN_NOT_ALLOWED_AS_DEFAULT'],
    [{ default: true, type: 'hybrid', usageTiers }, 'PLAN_NOT_ALLOWED_AS_DEFAULT'],
    [{ default: true, setupFee: 1 }, 'PLAN_NOT_ALLOWED_AS_DEFAULT'],
  ])('refuses %j', (input, code) => {
    expect(draftPlan(input, context)).toMatchObject({ kind: 'refused', code })
  })

  it.each([
    { default: true },
    { default: true, type: 'usage-based', creditsPerUnit: 100 },
    { default: true, type: 'one-time' },
  ])('accepts %j as the default plan', (input) => {
    expect(draft(input).isDefault).toBe(true)
  })

  it('edits a default plan that could no longer become the default', () => {
    const before = { ...draft({ type: 'hybrid', usageTiers }), isDefault: true }
    expect(revisePlan(before, { name: 'Renamed' }, context)).toMatchObject({
      kind: 'accepted',
      plan: { name: 'Renamed', isDefault: true },
    })
  })
})

describe('revisePlan', () => {
  const revised = (plan: PlanDraft, input: PlanCreateInput) =>
    accepted(revisePlan(plan, input, context))

  it('changes only the fields of the request', () => {
    const plan = draft({ name: 'Pro', price: 100, limit: 10, features: { seats: 1 } })
    expect(revised(plan, { limit: 20 })).toEqual({ ...plan, terms: { ...plan.terms, limit: 20 } })
  })

  it('accepts free units for a pre-paid plan', () => {
    expect(revised(draft({ type: 'usage-based' }), { freeUnits: 5 }).terms.freeUnits).toBe(5)
  })

  it('copies a new price to the main pricing option', () => {
    const plan = draft({
      pricingOptions: [
        { currency: 'USD', price: 100 },
        { currency: 'EUR', price: 200 },
      ],
    })
    expect(revised(plan, { price: 700 })).toMatchObject({
      priceMinor: 700,
      terms: { pricingOptions: [{ price: 700 }, { price: 200 }] },
    })
  })

  it('keeps a default plan free', () => {
    const plan = draft({ default: true })
    expect(revisePlan(plan, { price: 500 }, context)).toMatchObject({ kind: 'refused' })
    expect(revised(plan, { price: 500, default: false }).isDefault).toBe(false)
  })

  it('edits a plan from before the provider changed its currency', () => {
    const plan = draft({ name: 'Old' })
    const later = { ...context, defaultCurrency: 'EUR' }
    expect(revisePlan(plan, { name: 'New' }, later)).toMatchObject({ plan: { currency: 'USD' } })
    expect(revisePlan(plan, { currency: 'GBP' }, later)).toMatchObject({ kind: 'refused' })
  })
})
