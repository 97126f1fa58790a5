import { describe, expect, test } from 'vitest'
import { createTestPlan } from '../../test/test-plan.ts'
import { boughtPlan } from '../../test/bought-plans.ts'
import type { Product } from '../catalog/products-repository.ts'
import { decideProvision } from './decide-provision.ts'
import type { Purchase } from './repository.ts'

const start = new Date('2026-01-31T00:00:00Z')
const now = new Date('2026-03-01T00:00:00Z')

const product = aProduct()
const free = createTestPlan({ isDefault: true })

type Input = Parameters<typeof decideProvision>[0]

/** By default the customer has no purchase and no debts, and the plan is not sold out. */
function decide(input: Partial<Input>): ReturnType<typeof decideProvision> {
  const none = { last: undefined, lastOfDefault: undefined, isSoldOut: false, hasDebts: false }
  return decideProvision({ product, plans: [free], ...none, now, ...input })
}

describe('decideProvision, without a purchase', () => {
  test.each([
    ['a free default plan', product, [createTestPlan({}), free], { kind: 'enrol', plan: free }],
    [
      'no default plan',
      product,
      [createTestPlan({})],
      { kind: 'no-purchase', awaitingPlan: undefined },
    ],
    ['no plan', product, [], { kind: 'no-purchase', awaitingPlan: undefined }],
    [
      'an inactive default plan',
      product,
      [createTestPlan({ isDefault: true, status: 'inactive' })],
      { kind: 'no-purchase', awaitingPlan: undefined },
    ],
    [
      'an inactive product',
      aProduct({ status: 'suspended' }),
      [free],
      { kind: 'no-purchase', awaitingPlan: undefined },
    ],
  ] as const)('decides for %s', (_, ofProduct, plans, expected) => {
    expect(decide({ product: ofProduct, plans })).toEqual(expected)
  })

  test.each([
    ['usage-based', createTestPlan({ isDefault: true, type: 'usage-based' })],
    ['priced', createTestPlan({ isDefault: true, priceMinor: 1 })],
    [
      'hybrid and priced only by tiers',
      createTestPlan({
        isDefault: true,
        type: 'hybrid',
        terms: { usageTiers: [{ minUsage: 0, creditsPerUnit: 1 }] },
      }),
    ],
    ['charged with a set-up fee', createTestPlan({ isDefault: true, setupFeeMinor: 1 })],
  ])('waits for the consent of the customer if the default plan is %s', (_, plan) => {
    expect(decide({ plans: [plan] })).toEqual({ kind: 'no-purchase', awaitingPlan: plan })
  })
})

describe('decideProvision, with a purchase', () => {
  test.each([
    ['active', null, 'has-access'],
    ['trialing', null, 'has-access'],
    ['past_due', null, 'has-access'],
    ['active', '2026-03-01T00:00:00.001Z', 'has-access'],
    // The purchase ended in its last period, 28 February to 31 March, which is the current one.
    ['active', '2026-03-01T00:00:00.000Z', 'no-purchase'],
    ['suspended', '2026-02-28T00:00:00.001Z', 'no-purchase'],
    ['cancelled', '2026-02-28T00:00:00.000Z', 'enrol'],
    ['expired', '2026-02-27T23:59:59.999Z', 'enrol'],
  ] as const)('in status %s until %s returns %s', (status, endDate, expected) => {
    const last = aPurchase({ status, endDate: endDate === null ? null : new Date(endDate) })
    expect(decide({ last, lastOfDefault: last }).kind).toBe(expected)
  })

  test('starts the free plan after another plan has ended', () => {
    const last = aPurchase({ status: 'refunded', planRef: 'pln_OTHER', endedAt: now })
    expect(decide({ last, lastOfDefault: last }).kind).toBe('enrol')
  })

  test('does not start the free plan again in its period, even after another plan', () => {
    const last = aPurchase({ status: 'cancelled', planRef: 'pln_OTHER', endedAt: now })
    const lastOfDefault = aPurchase({ status: 'expired', endedAt: now })
    expect(decide({ last, lastOfDefault }).kind).toBe('no-purchase')
  })

  test('starts a free plan without periods only once', () => {
    const last = aPurchase({ status: 'expired', billingCycle: null, endedAt: start })
    expect(decide({ last, lastOfDefault: last }).kind).toBe('no-purchase')
  })
})

function aProduct(fields: Partial<Product> = {}): Product {
  return {
    reference: 'prd_A',
    name: 'API',
    description: null,
    imageUrl: null,
    productType: null,
    status: 'active',
    isMcpPay: false,
    config: null,
    metadata: {},
    taxBehavior: null,
    createdAt: start,
    updatedAt: start,
    ...fields,
  }
}

function aPurchase(fields: Partial<Purchase>): Purchase {
  return boughtPlan(free, start, fields)
}
