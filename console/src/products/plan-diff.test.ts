import { expect, test } from 'vitest'
import { planDiff } from './plan-diff.ts'
import type { Charge, Plan } from './plan.ts'

const tokens: Charge = {
  ...{ key: 'tokens', meter: 'tokens', model: 'graduated', included: 1_000, per: 'period' },
  tiers: [
    { upTo: 1_000_000, price: '0.0003', flatPrice: '150' },
    { upTo: null, price: '0.0002' },
  ],
}
const images: Charge = {
  ...{ meter: 'images', model: 'matrix', price: '4', cap: 50, per: 'period' },
  rows: [{ when: { model: 'large' }, price: '8' }],
}
const plan: Plan = {
  ...{ reference: 'pln_1', name: 'Team', type: 'hybrid', price: 4_900, currency: 'USD' },
  ...{ currencySymbol: '$', requiresPayment: true, isActive: true, hidden: false, default: false },
  ...{ status: 'inactive', createdAt: '', updatedAt: '', charges: [tokens, images] },
}

test('a diff has the changed fields and charges, and no others', () => {
  const cheaper: Charge = { ...tokens, tiers: [{ upTo: null, price: '0.0001' }] }
  expect(planDiff(plan, { price: 5_900, status: 'active', charges: [cheaper, images] })).toEqual([
    { field: 'Price', before: ['$49.00'], after: ['$59.00'] },
    { field: 'Status', before: ['inactive'], after: ['active'] },
    {
      field: 'Charge tokens',
      before: [
        'Graduated tiers',
        'Up to 1,000,000: 0.000003 USD per unit, and 1.5 USD once',
        'Above: 0.000002 USD per unit',
        '1,000 included',
      ],
      after: ['Graduated tiers', 'Above: 0.000001 USD per unit', '1,000 included'],
    },
  ])
})

test('a diff shows charges that are added and removed', () => {
  const calls: Charge = {
    ...{
      meter: 'calls',
      model: 'package',
      creditsPerUnit: '5',
      unitsPerPackage: 100,
      per: 'period',
    },
  }
  expect(planDiff(plan, { charges: [tokens, calls] })).toEqual([
    {
      field: 'Charge images',
      before: [
        'By dimension',
        'model=large: 0.08 USD per unit',
        'All others: 0.04 USD per unit',
        'At most 50',
      ],
      after: [],
    },
    { field: 'Charge calls', before: [], after: ['Packages', '5 credits per 100 units'] },
  ])
})

test('a changed base price is shown once, and a cap of 0 is no cap', () => {
  const based = { ...plan, price: 3_100, basePrice: 3_100 }
  expect(planDiff(based, { price: 3_500, basePrice: 3_500 })).toEqual([
    { field: 'Price', before: ['$31.00'], after: ['$35.00'] },
  ])
  const calls: Charge = { meter: 'calls', model: 'per_unit', price: '5', cap: 0, per: 'period' }
  expect(planDiff(plan, { charges: [tokens, images, calls] })).toEqual([
    { field: 'Charge calls', before: [], after: ['Per unit', '0.05 USD per unit'] },
  ])
})
