import { planCreateSchema } from '@tollgate/schemas/http/plans'
import { describe, expect, it } from 'vitest'
import { draftPlan, revisePlan, type PlanContext, type PlanDecision } from './draft-plan.ts'
import { unbilledCap } from './unbilled-limit.ts'

const context: PlanContext = {
  defaultCurrency: 'USD',
  requestsMeterRef: 'mtr_1',
  rates: new Map([
    ['USD', '1'],
    ['EUR', '0.9'],
    ['JPY', '150'],
  ]),
}
const decide = (input: object, currency = 'USD') =>
  draftPlan(planCreateSchema.parse(input), { ...context, defaultCurrency: currency })

function termsOf(decision: PlanDecision) {
  if (decision.kind === 'refused') throw new Error(JSON.stringify(decision.issues))
  return decision.plan.terms
}

const postPaid = { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 100 }
const hybrid = { type: 'hybrid', basePrice: 4_900, limit: 1_000 }
const tier = (minUsage: number, maxUsage: number | null, creditsPerUnit: number) => {
  return { minUsage, maxUsage, creditsPerUnit }
}
const falling = [tier(0, 100, 500), tier(101, null, 100)]

describe('maxUnbilledUnits', () => {
  it.each<[string, object, number, number]>([
    ['for units at one cent each', postPaid, 1_000, 1_000],
    ['on top of the free units', { ...postPaid, freeUnits: 50 }, 1_000, 1_050],
    ['independently of the limit', { ...postPaid, limit: 10 }, 1_000, 1_000],
    ['as a fraction of a unit', { ...postPaid, creditsPerUnit: 300 }, 1_000, 333.333333],
    ['in whole packages', { ...postPaid, unitsPerPackage: 100, creditsPerUnit: 10 }, 25, 200],
    ['without the base price', { ...hybrid, creditsPerUnit: 50, freeUnits: 200 }, 400, 1_000],
    [
      'including overage above the limit',
      { ...hybrid, freeUnits: 200, overagePolicy: { allowOverage: true, overageRate: 80 } },
      800,
      2_200,
    ],
    ['with graduated tiers', { ...postPaid, creditsPerUnit: 0, usageTiers: falling }, 600, 200],
    [
      'with volume tiers whose price falls',
      { ...postPaid, creditsPerUnit: 0, usageTiers: falling, usageTierMode: 'volume' },
      400,
      80,
    ],
    ['up to the largest quantity', { ...postPaid, creditsPerUnit: 1 }, 1e12, 9e9],
  ])('counts the units that fit %s', (_name, plan, maxUnbilledMinor, units) => {
    const terms = termsOf(decide({ ...plan, maxUnbilledMinor }))
    expect(terms).toMatchObject({ maxUnbilledMinor, maxUnbilledUnits: units })
  })

  it.each([
    ['EUR', 900, 1_000],
    ['JPY', 150, 100],
  ])('converts an amount in %s by the exchange rate', (currency, maxUnbilledMinor, units) => {
    const terms = termsOf(decide({ ...postPaid, currency, maxUnbilledMinor }, currency))
    expect(terms.maxUnbilledUnits).toBe(units)
  })

  it('changes with the prices, and disappears with the limit', () => {
    const created = decide({ ...postPaid, maxUnbilledMinor: 1_000 })
    if (created.kind === 'refused') throw new Error('refused')
    const dearer = revisePlan(created.plan, { creditsPerUnit: 200 }, context)
    expect(termsOf(dearer).maxUnbilledUnits).toBe(500)
    const without = revisePlan(created.plan, { maxUnbilledMinor: 0 }, context)
    expect(termsOf(without).maxUnbilledUnits).toBeUndefined()
    expect(revisePlan(created.plan, { creditsPerUnit: 0 }, context)).toMatchObject({
      kind: 'refused',
      issues: [{ path: ['maxUnbilledMinor'] }],
    })
  })

  it('adds carried-over units only if the price includes them', () => {
    const plain = decide({ ...postPaid, maxUnbilledMinor: 1_000 })
    const included = decide({
      ...hybrid,
      overagePolicy: { allowOverage: true, overageRate: 80 },
      maxUnbilledMinor: 80,
    })
    if (plain.kind === 'refused' || included.kind === 'refused') throw new Error('refused')
    expect(unbilledCap(plain.plan)).toEqual({ units: 1_000_000_000n, isWidened: false })
    expect(unbilledCap(included.plan)).toEqual({ units: 1_100_000_000n, isWidened: true })
  })
})

describe('unbilledLimitFaults', () => {
  it.each<[string, object, string?]>([
    ['on free plans', { price: 0 }],
    ['on recurring plans', { price: 900 }],
    ['on one-time plans', { type: 'one-time', price: 900 }],
    ['on pre-paid plans', { ...postPaid, billingModel: 'pre-paid' }],
    ['if usage costs nothing', { ...postPaid, creditsPerUnit: 0 }],
    ['on hybrid plans that charge no usage', hybrid],
    ['if one package costs more', { ...postPaid, unitsPerPackage: 1_001 }],
    ['if the currency has no exchange rate', { ...postPaid, currency: 'XAF' }, 'XAF'],
    [
      'if no usage costs that much',
      {
        ...postPaid,
        creditsPerUnit: 0,
        usageTiers: [tier(0, 5, 100), tier(6, null, 0)],
      },
    ],
  ])('refuses maxUnbilledMinor %s', (_name, plan, currency) => {
    const decision = decide({ ...plan, maxUnbilledMinor: 1_000 }, currency)
    const path = ['maxUnbilledMinor']
    expect(decision).toMatchObject({ code: 'PLAN_PRICES_INVALID', issues: [{ path }] })
    expect(decide({ ...plan, maxUnbilledMinor: 0 }, currency)).toMatchObject({ kind: 'accepted' })
  })
})
