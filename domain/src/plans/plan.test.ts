import { describe, expect, it } from 'vitest'
import { currencySymbol } from './currency-symbol.ts'
import { planSnapshotBody } from './plan-snapshot-body.ts'
import { isAutoEnrolled, isCreditBased, mayBeDefault, requiresPayment } from './plan.ts'
import type { PlanCosts } from './plan.ts'

const plan = (type: PlanCosts['type'], more: Partial<PlanCosts> = {}): PlanCosts => ({
  type,
  priceMinor: 0,
  basePriceMinor: null,
  setupFeeMinor: null,
  terms: {},
  ...more,
})
const credits = { terms: { creditsPerUnit: 100 } }
const tier = { minUsage: 0, creditsPerUnit: 1 }
const overage = (allowOverage: boolean) => ({
  terms: { overagePolicy: { allowOverage, overageRate: 1 } },
})
const option = { currency: 'EUR', price: 0 }
const options = (more: object) => ({ terms: { pricingOptions: [option, { ...option, ...more }] } })
const charges = { pays: true, enrols: false, credit: false }
const costsNothing = { pays: false, enrols: true, credit: false }

describe('requiresPayment, isAutoEnrolled and isCreditBased', () => {
  it.each<[string, PlanCosts, { pays: boolean; enrols: boolean; credit: boolean }]>([
    ['free', plan('recurring'), { pays: false, enrols: true, credit: false }],
    ['paid', plan('recurring', { priceMinor: 1 }), { pays: true, enrols: false, credit: false }],
    [
      'credits on a recurring plan',
      plan('recurring', credits),
      { pays: false, enrols: true, credit: false },
    ],
    ['one-time', plan('one-time', { priceMinor: 1 }), { pays: true, enrols: false, credit: false }],
    ['free of charge per use', plan('usage-based'), { pays: false, enrols: false, credit: false }],
    ['pre-paid', plan('usage-based', credits), { pays: true, enrols: false, credit: true }],
    [
      'post-paid',
      plan('usage-based', { terms: { creditsPerUnit: 1, billingModel: 'post-paid' } }),
      { pays: true, enrols: false, credit: false },
    ],
    ['hybrid', plan('hybrid', { basePriceMinor: 1 }), { pays: true, enrols: false, credit: false }],
    ['hybrid by credits', plan('hybrid', credits), charges],
    ['hybrid by tiers', plan('hybrid', { terms: { usageTiers: [tier] } }), charges],
    [
      'hybrid by a later tier',
      plan('hybrid', { terms: { usageTiers: [{ ...tier, creditsPerUnit: 0 }, tier] } }),
      charges,
    ],
    ['hybrid by overage', plan('hybrid', overage(true)), charges],
    ['hybrid without overage', plan('hybrid', overage(false)), costsNothing],
    [
      'hybrid of free tiers',
      plan('hybrid', { terms: { usageTiers: [{ ...tier, creditsPerUnit: 0 }] } }),
      costsNothing,
    ],
    [
      'tiers on a recurring plan',
      plan('recurring', { terms: { usageTiers: [tier] } }),
      costsNothing,
    ],
    [
      'post-paid by tiers',
      plan('usage-based', { terms: { usageTiers: [tier], billingModel: 'post-paid' } }),
      charges,
    ],
    ['a set-up fee alone', plan('recurring', { setupFeeMinor: 1 }), charges],
    ['a price in another currency', plan('recurring', options({ price: 1 })), charges],
    ['a set-up fee in another currency', plan('recurring', options({ setupFee: 1 })), charges],
    ['a base price in another currency', plan('hybrid', options({ basePrice: 1 })), charges],
    ['options that cost nothing', plan('recurring', options({})), costsNothing],
  ])('classify a plan: %s', (_name, given, { pays, enrols, credit }) => {
    expect(requiresPayment(given)).toBe(pays)
    expect(isAutoEnrolled(given)).toBe(enrols)
    expect(isCreditBased(given)).toBe(credit)
    expect(mayBeDefault(given)).toBe(!pays || given.type === 'usage-based')
  })
})

describe('currencySymbol', () => {
  it.each([
    ['usd', '$'],
    ['EUR', '€'],
    ['xyz', 'XYZ'],
    ['constructor', 'CONSTRUCTOR'],
  ])('returns for %s the symbol %s', (code, symbol) => {
    expect(currencySymbol(code)).toBe(symbol)
  })
})

describe('planSnapshotBody', () => {
  const snapshot = {
    ...plan('recurring'),
    reference: 'pln_A',
    name: 'Pro',
    currency: 'USD',
    meterRef: null,
  }

  it('omits the limit if there is none', () => {
    for (const terms of [{}, { limit: 0 }]) {
      expect(planSnapshotBody({ ...snapshot, terms })).not.toHaveProperty('limit')
    }
    expect(planSnapshotBody({ ...snapshot, terms: { limit: 5 } })).toMatchObject({ limit: 5 })
    // A free plan is capped by its free units.
    expect(planSnapshotBody({ ...snapshot, terms: { limit: 0, freeUnits: 7 } })).toMatchObject({
      limit: 7,
    })
  })

  it('sends nullable fields as null', () => {
    expect(planSnapshotBody(snapshot)).toMatchObject({
      billingCycle: null,
      features: null,
      limits: null,
    })
  })
})
