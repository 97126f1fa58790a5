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

describe('the units that fit under maxUnbilledMinor', () => {
  it.each<[string, object, number, number]>([
    ['a cent each', postPaid, 1_000, 1_000],
    ['behind the free units', { ...postPaid, freeUnits: 50 }, 1_000, 1_050],
    ['whatever the limit', { ...postPaid, limit: 10 }, 1_000, 1_000],
    ['which the amount does not divide', { ...postPaid, creditsPerUnit: 300 }, 1_000, 333.333333],
    ['in whole packages', { ...postPaid, unitsPerPackage: 100, creditsPerUnit: 10 }, 25, 200],
    ['a base price is not usage', { ...hybrid, creditsPerUnit: 50, freeUnits: 200 }, 400, 1_000],
    [
      'overage above what is included',
      { ...hybrid, freeUnits: 200, overagePolicy: { allowOverage: true, overageRate: 80 } },
      800,
      2_200,
    ],
    ['graduated', { ...postPaid, creditsPerUnit: 0, usageTiers: falling }, 600, 200],
    [
      'by volume, where the price falls behind',
      { ...postPaid, creditsPerUnit: 0, usageTiers: falling, usageTierMode: 'volume' },
      400,
      80,
    ],
    ['no more than a quantity can be', { ...postPaid, creditsPerUnit: 1 }, 1e12, 9e9],
  ])('%s', (_name, plan, maxUnbilledMinor, units) => {
    const terms = termsOf(decide({ ...plan, maxUnbilledMinor }))
    expect(terms).toMatchObject({ maxUnbilledMinor, maxUnbilledUnits: units })
  })

  it.each([
    ['EUR', 900, 1_000],
    ['JPY', 150, 100],
  ])('in %s, by the exchange rate', (currency, maxUnbilledMinor, units) => {
    const terms = termsOf(decide({ ...postPaid, currency, maxUnbilledMinor }, currency))
    expect(terms.maxUnbilledUnits).toBe(units)
  })

  it('follow the prices, and go with the limit', () => {
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

  it('are widened by units carried over only where the price includes those', () => {
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

describe('maxUnbilledMinor is refused', () => {
  it.each<[string, object, string?]>([
    ['on free plans', { price: 0 }],
    ['on recurring plans', { price: 900 }],
    ['on one-time plans', { type: 'one-time', price: 900 }],
    ['on pre-paid plans', { ...postPaid, billingModel: 'pre-paid' }],
    ['where usage costs nothing', { ...postPaid, creditsPerUnit: 0 }],
    ['on hybrid plans that charge no usage', hybrid],
    ['where a package costs more', { ...postPaid, unitsPerPackage: 1_001 }],
    ['where nobody knows a rate of the currency', { ...postPaid, currency: 'XAF' }, 'XAF'],
    [
      'where no usage costs that much',
      {
        ...postPaid,
        creditsPerUnit: 0,
        usageTiers: [tier(0, 5, 100), tier(6, null, 0)],
      },
    ],
  ])('%s', (_name, plan, currency) => {
    const decision = decide({ ...plan, maxUnbilledMinor: 1_000 }, currency)
    const path = ['maxUnbilledMinor']
    expect(decision).toMatchObject({ code: 'PLAN_PRICES_INVALID', issues: [{ path }] })
    expect(decide({ ...plan, maxUnbilledMinor: 0 }, currency)).toMatchObject({ kind: 'accepted' })
  })
})
