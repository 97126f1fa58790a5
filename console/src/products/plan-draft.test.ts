import { expect, test } from 'vitest'
import { changesOf, planDraftOf } from './plan-draft.ts'
import { newCharge, newTier, whenOf, whenText } from './charge-draft.ts'
import type { Charge, Plan } from './plan.ts'

const charges: Charge[] = [
  {
    ...{ key: 'tokens', displayName: 'Tokens', meter: 'tokens', model: 'graduated' },
    ...{ included: 1_000, rollover: true, per: 'period' },
    tiers: [
      { upTo: 1_000_000, price: '0.0003', flatPrice: '150' },
      { upTo: null, price: '0.0002' },
    ],
  },
  {
    ...{ meter: 'images', model: 'matrix', price: '4', per: 'period', where: { region: ['eu'] } },
    rows: [{ when: { model: 'large', region: 'eu' }, price: '8' }],
  },
  { meter: 'calls', model: 'package', unitsPerPackage: 100, price: '12.5', cap: 5, per: 'period' },
  { meter: 'seconds', model: 'per_unit', creditsPerUnit: '0.25', per: 'period' },
]

const plan: Plan = {
  ...{ reference: 'pln_1', name: 'Team', type: 'hybrid', price: 4_900, currency: 'USD' },
  ...{ currencySymbol: '$', requiresPayment: true, isActive: true, hidden: false, default: false },
  ...{ status: 'active', createdAt: '', updatedAt: '', minimumCommitment: 1_050, charges },
}
const draft = planDraftOf(plan)

test('a draft shows money in whole units, and changes nothing by itself', () => {
  expect(draft).toMatchObject({ price: '49', minimumCommitment: '10.5', setupFee: '', limit: '' })
  expect(draft.charges[0]).toMatchObject({
    tiers: [
      { upTo: '1000000', price: '0.000003', flatPrice: '1.5' },
      { upTo: '', price: '0.000002', flatPrice: '' },
    ],
  })
  expect(draft.charges[3]).toMatchObject({ pricedIn: 'credits', price: '0.25' })
  expect(changesOf(plan, draft)).toEqual({ kind: 'changes', changes: {} })
})

test('only changed fields are sent, in minor units', () => {
  expect(changesOf(plan, { ...draft, price: '59.90', setupFee: '10', limit: '500' })).toEqual({
    kind: 'changes',
    changes: { price: 5_990, setupFee: 1_000, limit: 500 },
  })
  expect(changesOf(plan, { ...draft, minimumCommitment: '' })).toMatchObject({
    changes: { minimumCommitment: 0 },
  })
  const yen = { ...plan, currency: 'JPY', charges: [] }
  expect(changesOf(yen, { ...planDraftOf(yen), price: '5900' })).toMatchObject({
    changes: { price: 5_900 },
  })
})

test('a changed charge keeps the digits and what the form does not show', () => {
  const [tokens, ...others] = draft.charges
  const tiers = [{ ...tokens!.tiers[0]!, price: '0.0000025' }, tokens!.tiers[1]!]
  const [before, ...rest] = charges
  expect(changesOf(plan, { ...draft, charges: [{ ...tokens!, tiers }, ...others] })).toEqual({
    kind: 'changes',
    changes: {
      charges: [
        { ...before, tiers: [{ ...before!.tiers![0], price: '0.00025' }, before!.tiers![1]] },
        ...rest,
      ],
    },
  })
})

test('a change of the model leaves out the fields of the other models', () => {
  const [tokens] = draft.charges
  const changed = { ...tokens!, model: 'per_unit' as const, price: '0.01', included: '' }
  const { rest } = tokens!
  expect(changesOf(plan, { ...draft, charges: [changed] })).toMatchObject({
    changes: {
      charges: [{ ...rest, meter: 'tokens', model: 'per_unit', price: '1', per: 'period' }],
    },
  })
  const added = { ...newCharge, meter: 'rows', model: 'volume' as const, tiers: [newTier] }
  expect(changesOf(plan, { ...draft, charges: [added] })).toMatchObject({
    changes: {
      charges: [{ meter: 'rows', model: 'volume', tiers: [{ upTo: null }], per: 'period' }],
    },
  })
})

test('an amount that the currency does not have is refused before it is sent', () => {
  for (const price of ['1.234', 'ten', '-5', '1e3', '1,000']) {
    expect(changesOf(plan, { ...draft, price }), price).toMatchObject({
      kind: 'fault',
      message: 'Price: use a number with at most 2 decimals',
    })
  }
})

test('dimensions are read as they are shown', () => {
  const when = { model: 'large', region: 'eu=west' }
  expect(whenOf(whenText(when))).toEqual(when)
  expect(whenOf(' model = large ,, x')).toEqual({ model: 'large' })
})
