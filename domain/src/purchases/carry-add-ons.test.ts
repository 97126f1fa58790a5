import { expect, test } from 'vitest'
import { boughtPlan, buyer, snapshotOfPlan, soldProduct } from '../../test/bought-plans.ts'
import { withAddOns } from '../plans/add-ons.ts'
import type { AttachedAddOn } from '../plans/plan.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { changesOnlyAddOns } from './carry-add-ons.ts'
import { decideChange } from './decide-switch.ts'
import { newSwitchedPurchase, switchPrice } from './new-purchase.ts'
import { offerTo, planAfterChange } from './offered-plan.ts'

const june = new Date('2026-06-01T00:00:00Z')
const tenth = new Date('2026-06-10T00:00:00Z')
const july = new Date('2026-07-01T00:00:00Z')

function seats(quantity: number): AttachedAddOn {
  return {
    ...{ reference: 'seats', name: 'Seats', quantity, price: 700, setupFee: 0, raises: [] },
    planRefs: ['small', 'big'],
  }
}

test('a change to a plan with other prices for the customer charges the set-up fee once, also with add-ons that change later', () => {
  const small = snapshotOfPlan('small', 3_000)
  const ramp = [{ periods: 3, price: 5_000 }]
  const big = snapshotOfPlan('big', 9_000, { ramp }, { setupFeeMinor: 2_500 })
  const held = boughtPlan(withAddOns(small, [seats(2)], 'USD'), june, {
    scheduledPlan: withAddOns(small, [seats(1)], 'USD'),
    scheduledPlanAt: july,
    isScheduledByProvider: true,
  })
  const plan = offerTo(big, { last: held, lastOfPlan: undefined }, tenth)
  const chosen = { held, plan, isFirstCharge: true, currency: undefined, at: tenth }
  const decision = decideChange(chosen)
  if (decision.kind !== 'now') throw new Error(`the change is made ${decision.kind}`)
  const { change } = decision
  const fees = change.lines.filter(({ inputs }) => inputs.kind === 'setup_fee')
  expect(fees.map(({ amountMinor }) => amountMinor)).toEqual([2_500n])
  const sale = { customer: buyer, product: soldProduct, now: tenth }
  const started = newSwitchedPurchase(sale, change, switchPrice(change.plan, 'USD', '1'))
  const renewed = planAfterChange(started.scheduledPlan!, started, july)
  expect(pricesIn(renewed, 'USD')).toMatchObject({ priceMinor: 5_700n, setupFeeMinor: 0n })
  expect(changesOnlyAddOns(started)).toBe(true)
})
