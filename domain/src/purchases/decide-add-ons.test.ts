import { expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan, soldProduct } from '../../test/bought-plans.ts'
import type { AddOn } from '../catalog/add-on.ts'
import { attachedTo, withAddOns } from '../plans/add-ons.ts'
import type { AttachedAddOn } from '../plans/plan.ts'
import { changeWithoutPlan, withAddOnsAhead } from './carry-add-ons.ts'
import { decideAddOnChange, type AddOnChange, type AddOnDecision } from './decide-add-ons.ts'
import type { Purchase } from './purchase.ts'
import { scheduledPurchase } from './schedule-plan.ts'

const start = new Date('2026-06-01T00:00:00Z')
const now = new Date('2026-06-16T00:00:00Z')
const plan = snapshotOfPlan('pln_a', 3_000)

function offered(reference: string, fields: Partial<AddOn> = {}): AddOn {
  return {
    ...{ reference, productRef: soldProduct.reference, name: reference, description: null },
    ...{ priceMinor: 1_000, setupFeeMinor: 200, currency: 'USD', billingCycle: 'monthly' },
    ...{ billingCycleDays: null, quantityMax: null, planRefs: ['pln_a'], raises: [] },
    ...{ firstAttachedAt: null, archivedAt: null, createdAt: start, updatedAt: start },
    ...fields,
  }
}

function attached(reference: string): AttachedAddOn {
  const terms = { name: reference, price: 1_000, raises: [], planRefs: ['pln_a'] }
  return { reference, quantity: 1, setupFee: 0, ...terms }
}

function decide(
  held: Purchase,
  addOn: AddOn,
  quantity: number,
  when: AddOnChange['when'],
): AddOnDecision {
  const input = { held, hasDebts: false, periodDiscounts: [], now }
  return decideAddOnChange(input, { addOn, quantity, when })
}

/** Returns the purchase with the change for its renewal. */
function scheduled(held: Purchase, addOn: AddOn, quantity: number): Purchase {
  const decision = decide(held, addOn, quantity, 'renewal')
  if (decision.kind !== 'renewal') throw new Error(JSON.stringify(decision))
  return scheduledPurchase(held, decision.change)
}

test('an add-on that begins with the renewal keeps its set-up fee if another one is attached before', () => {
  const held = scheduled(boughtPlan(plan, start), offered('one'), 1)
  const decision = decide(held, offered('two'), 1, 'now')
  if (decision.kind !== 'now') throw new Error(decision.kind)
  expect(attachedTo(decision.ahead)).toMatchObject([
    { reference: 'one', setupFee: 200 },
    { reference: 'two', setupFee: 0 },
  ])
})

test('an add-on that is removed and set again before its end keeps its terms, and is charged no second fee', () => {
  const held = boughtPlan(withAddOns(plan, [attached('one')], 'USD'), start)
  const removed = scheduled(held, offered('one'), 0)
  const dearer = offered('one', { priceMinor: 1_500 })
  const again = scheduled(removed, dearer, 2)
  expect(attachedTo(again.scheduledPlan)).toMatchObject([
    { quantity: 2, price: 1_000, setupFee: 0 },
  ])
  const more = decide(removed, dearer, 2, 'now')
  // The renewal keeps what the period has from now on.
  expect(more).toMatchObject({ kind: 'now', ahead: null })
})

test('an add-on that was chosen for the renewal begins earlier with the terms of that choice', () => {
  const held = scheduled(boughtPlan(plan, start), offered('one'), 1)
  const dearer = offered('one', { priceMinor: 1_500, setupFeeMinor: 900, archivedAt: now })
  const decision = decide(held, dearer, 1, 'now')
  if (decision.kind !== 'now') throw new Error(decision.kind)
  expect(attachedTo(decision.change.plan)).toMatchObject([{ price: 1_000, setupFee: 200 }])
  expect(decision.ahead).toBeNull()
  expect(decide(held, dearer, 2, 'now')).toEqual({ kind: 'refused', obstacle: 'archived' })
})

test('a change of quantity at the renewal does not repeat a set-up fee that was charged within the period', () => {
  const paid = { ...attached('one'), setupFee: 200 }
  const held = boughtPlan(withAddOns(plan, [paid], 'USD'), start)
  const more = scheduled(held, offered('one'), 2)
  expect(attachedTo(more.scheduledPlan)).toMatchObject([{ quantity: 2, setupFee: 0 }])
})

test('a withdrawn choice of plan does not repeat a set-up fee that was charged within the period', () => {
  const paid = { ...attached('one'), setupFee: 200 }
  const wide = { ...attached('two'), planRefs: ['pln_a', 'pln_b'] }
  const held = boughtPlan(withAddOns(plan, [paid, wide], 'USD'), start)
  const less = scheduled(held, offered('two'), 0)
  // The other plan allows only the add-on that is removed.
  const other = withAddOnsAhead(less, snapshotOfPlan('pln_b', 1_000))
  const chosen = scheduledPurchase(less, { plan: other, at: start, termsAt: undefined })
  expect(attachedTo(changeWithoutPlan(chosen)!.plan)).toMatchObject([
    { reference: 'one', setupFee: 0 },
  ])
})

test('no add-on raises the hard cap of a trial, whose usage is never billed', () => {
  const terms = { limit: 100, freeUnits: 10, creditsPerUnit: 5 }
  const hybrid = snapshotOfPlan('pln_a', 0, terms, { type: 'hybrid', basePriceMinor: 3_000 })
  const trial = { status: 'trialing' as const, startDate: new Date('2026-05-20T00:00:00Z') }
  const held = { ...boughtPlan(hybrid, start), ...trial }
  const more = offered('more', { raises: [{ meter: 'requests', raises: 'limit', units: 900 }] })
  expect(decide(held, more, 1, 'now')).toEqual({ kind: 'refused', obstacle: 'trialing' })
  expect(decide(held, offered('support'), 1, 'now')).toMatchObject({ kind: 'in-trial' })
})
