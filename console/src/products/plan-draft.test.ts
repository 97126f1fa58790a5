import { expect, test } from 'vitest'
import { beginDraft, changesOf, isOutdated, planDraftOf } from './plan-draft.ts'
import { newCharge, newTier, readWhen, whenText, type RowDraft } from './charge-draft.ts'
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
  expect(changesOf({ plan, draft })).toEqual({ kind: 'changes', changes: {} })
})

test('only changed fields are sent, in minor units', () => {
  expect(
    changesOf({ plan, draft: { ...draft, price: '59.90', setupFee: '10', limit: '500' } }),
  ).toEqual({
    kind: 'changes',
    changes: { price: 5_990, setupFee: 1_000, limit: 500 },
  })
  expect(changesOf({ plan, draft: { ...draft, minimumCommitment: '' } })).toMatchObject({
    changes: { minimumCommitment: 0 },
  })
  const yen = { ...plan, currency: 'JPY', charges: [] }
  expect(changesOf({ plan: yen, draft: { ...planDraftOf(yen), price: '5900' } })).toMatchObject({
    changes: { price: 5_900 },
  })
})

test('a changed charge keeps the digits and what the form does not show', () => {
  const [tokens, ...others] = draft.charges
  const tiers = [{ ...tokens!.tiers[0]!, price: '0.0000025' }, tokens!.tiers[1]!]
  const [before, ...rest] = charges
  expect(
    changesOf({ plan, draft: { ...draft, charges: [{ ...tokens!, tiers }, ...others] } }),
  ).toEqual({
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
  expect(changesOf({ plan, draft: { ...draft, charges: [changed] } })).toMatchObject({
    changes: {
      charges: [{ ...rest, meter: 'tokens', model: 'per_unit', price: '1', per: 'period' }],
    },
  })
  const added = { ...newCharge, meter: 'rows', model: 'volume' as const, tiers: [newTier] }
  expect(changesOf({ plan, draft: { ...draft, charges: [added] } })).toMatchObject({
    changes: {
      charges: [{ meter: 'rows', model: 'volume', tiers: [{ upTo: null }], per: 'period' }],
    },
  })
})

test('an amount that the currency does not have is refused before it is sent', () => {
  for (const price of ['1.234', 'ten', '-5', '1e3', '1,000']) {
    expect(changesOf({ plan, draft: { ...draft, price } }), price).toMatchObject({
      kind: 'fault',
      message: 'Price: use a number with at most 2 decimals',
    })
  }
})

test('a hybrid plan with a base price shows and changes that price', () => {
  const based: Plan = { ...plan, price: 0, basePrice: 3_100 }
  const shown = planDraftOf(based)
  expect(shown.price).toBe('31')
  expect(changesOf({ plan: based, draft: shown })).toEqual({ kind: 'changes', changes: {} })
  const dearer = { ...shown, price: '35.50' }
  expect(changesOf({ plan: based, draft: dearer })).toEqual({
    kind: 'changes',
    changes: { basePrice: 3_550 },
  })
  // The API refuses a price beside another base price.
  expect(changesOf({ plan: { ...based, price: 3_100 }, draft: dearer })).toEqual({
    kind: 'changes',
    changes: { price: 3_550, basePrice: 3_550 },
  })
  expect(planDraftOf({ ...based, basePrice: 0 }).price).toBe('0')
  const recurring: Plan = { ...based, type: 'recurring', price: 900, basePrice: 0 }
  expect(changesOf({ plan: recurring, draft: dearer })).toMatchObject({ changes: { price: 3_550 } })
})

test('a draft is outdated when its plan was saved again', () => {
  const begun = beginDraft(plan)
  expect(isOutdated(begun.plan, { ...plan })).toBe(false)
  expect(isOutdated(begun.plan, { ...plan, updatedAt: '2026-03-14T12:00:00.000Z' })).toBe(true)
})

test('a number of a charge that cannot be read is named, and never left out', () => {
  const messageFor = (index: number, changed: Partial<(typeof draft.charges)[number]>): unknown => {
    const changedCharges = draft.charges.map((each, at) =>
      at === index ? { ...each, ...changed } : each,
    )
    const read = changesOf({ plan, draft: { ...draft, charges: changedCharges } })
    return read.kind === 'fault' ? read.message : read.changes
  }
  const [tokens] = draft.charges
  const tiers = [{ ...tokens!.tiers[0]!, upTo: '10,000' }, tokens!.tiers[1]!]
  const rule = 'use a number with at most 6 decimals'
  expect(messageFor(0, { tiers })).toBe(`Charge 1, tier 1, up to: ${rule}`)
  expect(messageFor(0, { included: '1e3' })).toBe(`Charge 1, included units: ${rule}`)
  expect(messageFor(2, { cap: 'ten' })).toBe(`Charge 3, limit of units: ${rule}`)
  expect(messageFor(2, { unitsPerPackage: '-1' })).toBe(`Charge 3, units per package: ${rule}`)
  // Fields of other models are not sent.
  expect(messageFor(3, { unitsPerPackage: 'x', tiers })).toEqual({})
})

test('a dimension that text cannot show stays while the text of its row is unchanged', () => {
  const when = { model: 'large, fast', region: ' eu ' }
  const matrix: Charge = { ...charges[1]!, rows: [{ when, price: '8' }] }
  const saved: Plan = { ...plan, charges: [matrix] }
  const begun = beginDraft(saved)
  const withRow = (changed: Partial<RowDraft>) => {
    const [charge] = begun.draft.charges
    const rows = [{ ...charge!.rows[0]!, ...changed }]
    return changesOf({ plan: saved, draft: { ...begun.draft, charges: [{ ...charge!, rows }] } })
  }
  expect(withRow({ price: '0.09' })).toEqual({
    kind: 'changes',
    changes: { charges: [{ ...matrix, rows: [{ when, price: '9' }] }] },
  })
  expect(withRow({ when: 'model=small' })).toMatchObject({
    changes: { charges: [{ rows: [{ when: { model: 'small' } }] }] },
  })
  expect(withRow({ when: 'model=large, fast' })).toEqual({
    kind: 'fault',
    message: 'Charge 1, row 1: write dimensions as "model=large, region=eu"',
  })
})

test('dimensions are read as they are shown, and parts that are no dimension are refused', () => {
  const when = { model: 'large', region: 'eu=west' }
  expect(readWhen(whenText(when))).toEqual(when)
  expect(readWhen(' model = large ')).toEqual({ model: 'large' })
  expect(readWhen(' ')).toEqual({})
  for (const text of [
    'x',
    'model=large,',
    'model=large,, region=eu',
    '=large',
    'model=a, model=b',
  ]) {
    expect(readWhen(text), text).toBeUndefined()
  }
})
