import { expect, test } from 'vitest'
import type { Plan, PlanTerms } from '@tollgate/domain/plans/plan'
import { readerOf } from '../reader.ts'
import { planFacts } from './plan-facts.ts'
import { planPriceBesideName } from './plan-price.ts'

const postPaid = { billingModel: 'post-paid', billingCycle: 'monthly' } as const
const tiers = [
  { minUsage: 0, maxUsage: 500, creditsPerUnit: 50 },
  { minUsage: 501, maxUsage: 2_000, creditsPerUnit: 30 },
  { minUsage: 2_001, creditsPerUnit: 10 },
]

const reader = readerOf('en-US')
const shown = { currency: 'USD', isTriable: false }

test.each<[string, Plan['type'], PlanTerms, string[]]>([
  ['pre-paid', 'usage-based', { creditsPerUnit: 100 }, ['1,000 requests cost $10.00']],
  ['free of charge', 'usage-based', postPaid, []],
  [
    'post-paid',
    'usage-based',
    { ...postPaid, creditsPerUnit: 100, freeUnits: 100, limit: 10_000 },
    [
      '100 free requests in each period',
      'Up to 10,000 requests in each period',
      'Beyond the free requests, 1,000 requests cost $10.00',
      'Billed when the period has ended',
    ],
  ],
  [
    'post-paid, billed within the period',
    'usage-based',
    { ...postPaid, creditsPerUnit: 100, billAtUnbilledMinor: 10_000 },
    [
      '1,000 requests cost $10.00',
      'Billed when the period has ended',
      'Billed within the period whenever unbilled usage reaches $100.00',
    ],
  ],
  [
    'overage in tiers',
    'hybrid',
    { limit: 1_000, usageTiers: tiers, overagePolicy: { allowOverage: true } },
    [
      'Includes 1,000 requests in each period',
      'Beyond what is included, 1,000 requests: $5.00 up to 500, $3.00 up to 2,000, $1.00 above',
      'Billed when the period has ended',
    ],
  ],
  [
    'by volume, in packages, far below a cent',
    'usage-based',
    {
      ...postPaid,
      usageTierMode: 'volume',
      usageTiers: [
        { minUsage: 0, maxUsage: 5_000, creditsPerUnit: 0.02 },
        { minUsage: 5_001, creditsPerUnit: 0.0125 },
      ],
      unitsPerPackage: 100,
    },
    [
      '1,000,000 requests, all at the price of the last tier that is reached: $2.00 up to 5,000, $1.25 above',
      'Counted in packages of 100',
      'Billed when the period has ended',
    ],
  ],
])('shows the price of usage: %s', (_, type, terms, facts) => {
  expect(planFacts(aPlan({ type, terms }), shown, reader)).toEqual(facts)
})

test('shows the set-up fee in the currency of the prices', () => {
  const pricingOptions = [
    { currency: 'USD', price: 4_900, setupFee: 1_000 },
    { currency: 'EUR', price: 4_500, setupFee: 900 },
  ]
  const plan = aPlan({ priceMinor: 4_900, setupFeeMinor: 1_000, terms: { pricingOptions } })
  expect(planFacts(plan, shown, reader)).toEqual(['Setup fee $10.00 (once)'])
  expect(planFacts(plan, { ...shown, currency: 'EUR' }, reader)).toEqual(['Setup fee €9.00 (once)'])
})

test('uses the singular for a count of one', () => {
  const terms = {
    freeUnits: 1,
    limit: 1,
    cancellationNoticeDays: 1,
    billingCycle: 'monthly',
  } as const
  expect(planFacts(aPlan({ terms }), shown, reader)).toEqual([
    'Cancel at least 1 day before a period ends',
    '1 free request in each period',
    'Up to 1 request in each period',
  ])
})

test('shows an amount only for a free plan that is named like its price', () => {
  const metered = { type: 'usage-based', terms: { ...postPaid, creditsPerUnit: 100 } } as const
  const words = (plan: Partial<Plan>) => planPriceBesideName(aPlan(plan), 'USD', reader)
  expect(words({ name: 'Free' })).toBe('$0.00')
  expect(words({ name: 'pay for what you use', ...metered })).toBe('Pay for what you use')
})

test('does not offer a used trial again', () => {
  const plan = aPlan({ type: 'recurring', priceMinor: 2_900, terms: { trialDays: 14 } })
  expect(planFacts(plan, { ...shown, isTriable: true }, reader)).toEqual(['14-day free trial'])
  expect(planFacts(plan, shown, reader)).toEqual([])
})

test.each<[PlanTerms, string[]]>([
  [{ billingCycle: 'monthly', autoRenew: false }, ['Ends after one month and does not renew']],
  [
    { billingCycle: 'custom', billingCycleDays: 10, autoRenew: false },
    ['Ends after 10 days and does not renew'],
  ],
  [{ billingCycle: 'monthly', autoRenew: true }, []],
  [{ billingCycle: 'monthly' }, []],
  [{ autoRenew: false }, []],
])('shows when a plan ends that does not renew: %j', (terms, facts) => {
  expect(planFacts(aPlan({ terms }), shown, reader)).toEqual(facts)
})

function aPlan(of: Partial<Plan>): Plan {
  const at = new Date(0)
  return {
    reference: 'pln_ONE',
    productRef: 'prd_ONE',
    key: null,
    name: 'One',
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
    terms: {},
    createdAt: at,
    updatedAt: at,
    ...of,
  }
}

test('shows the prices, included units and caps of charges', () => {
  const per = 'period'
  const terms: PlanTerms = {
    billingModel: 'post-paid',
    charges: [
      {
        displayName: 'Tokens',
        meter: 'tokens',
        model: 'per_unit',
        price: '0.0003',
        included: 9,
        per,
      },
      {
        meter: 'images',
        model: 'matrix',
        price: '4',
        rows: [{ when: { m: 'l' }, price: '8' }],
        per,
      },
      {
        meter: 'calls',
        model: 'package',
        creditsPerUnit: '100',
        unitsPerPackage: 50,
        cap: 500,
        per,
      },
    ],
  }
  expect(planFacts(aPlan({ type: 'usage-based', terms }), shown, reader)).toEqual([
    'Tokens: 9 included in each period',
    'Tokens: 1,000,000 cost $3.00',
    'images: 1 cost $0.04 or more',
    'calls: up to 500 in each period',
    'calls: 50 cost $0.01',
    'Billed when the period has ended',
  ])
})
