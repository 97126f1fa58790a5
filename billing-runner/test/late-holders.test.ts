import { afterAll, beforeEach, expect, test } from 'vitest'
import { changeAddOns } from '@tollgate/domain/billing/change-add-ons'
import { createAddOn } from '@tollgate/domain/catalog/manage-add-ons'
import { listItems, type MigrationItem } from '@tollgate/domain/plan-migrations/items-repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { AddOnTime } from '@tollgate/schemas/http/add-ons'
import { startRunnerStack, type Shop } from './runner-stack.ts'
import { TermsPlayer } from './terms-player.ts'

/* Purchases that begin after a migration was created, with terms from before it, and whose add-ons changed as well. */

const stack = await startRunnerStack()
afterAll(() => stack.stop())

let shop: Shop
let player: TermsPlayer
let held: Plan
let chosen: Plan
let seatsRef: string
let customerRef: string

beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
  player = new TermsPlayer(stack, shop)
  const terms = { billingCycle: 'monthly', cancellationNoticeDays: 30 } as const
  held = await stack.addPlan(shop, { ...terms, name: 'Held', price: 4_900 })
  chosen = await stack.addPlan(shop, { ...terms, name: 'Chosen', price: 1_900 })
  seatsRef = await addSeats()
  customerRef = (await stack.buy(shop, held)).customerRef
})

test('a change that a reactivation brings back joins the migration that its plan got meanwhile', async () => {
  await at('2026-02-10', () => changeSeats(1, 'renewal'))
  await at('2026-02-11', () => player.schedule(customerRef, chosen.reference, undefined, undefined))
  await at('2026-02-20', () => player.cancel(customerRef))
  await at('2026-02-21', () => migrate(chosen, 2_900))
  await at('2026-02-28', () => player.runJobs())
  await at('2026-03-10', () => player.reactivate(customerRef))
  await at('2026-03-31', () => player.runJobs())
  const { reference, planRef } = await player.held(customerRef)
  expect(planRef).toBe(chosen.reference)
  expect(await items()).toMatchObject([{ purchaseRef: reference, status: 'scheduled' }])
})

test('a last period with other add-ons has the terms of its plan, whatever was scheduled later', async () => {
  await at('2026-02-10', () => changeSeats(1, 'renewal'))
  await at('2026-02-12', () => migrate(held, 5_900))
  await at('2026-02-12', () => player.moveNewest('pause'))
  await at('2026-02-14', () => player.schedule(customerRef, chosen.reference, undefined, undefined))
  await at('2026-02-20', () => player.cancel(customerRef))
  await at('2026-02-28', () => player.runJobs())
  await at('2026-03-10', () => player.reactivate(customerRef))
  await at('2026-03-10', () => player.withdraw(customerRef))
  await at('2026-03-12', () => player.moveNewest('resume'))
  await at('2026-03-12', () => player.runJobs())
  const { reference, planRef } = await player.held(customerRef)
  expect(planRef).toBe(held.reference)
  expect(await items()).toMatchObject([{ purchaseRef: reference, status: 'scheduled' }])
})

test('terms from before a paused migration stay so through several changes of add-ons', async () => {
  await at('2026-02-12', () => migrate(held, 5_900))
  await at('2026-02-12', () => player.moveNewest('pause'))
  await at('2026-02-15', () => changeSeats(1, 'now'))
  await at('2026-02-16', () => player.runJobs())
  await at('2026-02-17', () => changeSeats(2, 'now'))
  await at('2026-02-20', () => player.moveNewest('resume'))
  await at('2026-02-20', () => player.runJobs())
  const { reference } = await player.held(customerRef)
  expect(await items()).toMatchObject([{ purchaseRef: reference, status: 'scheduled' }])
})

async function at(day: string, act: () => Promise<unknown>): Promise<void> {
  stack.clock.set(`${day}T12:00:00Z`)
  await act()
}

async function migrate({ reference }: Plan, price: number): Promise<void> {
  await player.changePrice(reference, price)
  await player.migrate(reference, { when: 'renewal', notice: false })
}

async function addSeats(): Promise<string> {
  const planRefs = [held.reference, chosen.reference]
  const outcome = await stack.within(shop, (work) =>
    createAddOn(work, shop.product.reference, {
      ...{ name: 'Seats', description: null, priceMinor: 500, setupFeeMinor: 0 },
      ...{ quantityMax: null, raises: [], planRefs },
    }),
  )
  if (outcome.kind !== 'stored') throw new Error(outcome.kind)
  return outcome.addOn.reference
}

async function changeSeats(quantity: number, when: AddOnTime): Promise<void> {
  const { reference: purchaseRef } = await player.held(customerRef)
  const request = { purchaseRef, addOnRef: seatsRef, quantity, when }
  const { kind } = await stack.within(shop, (work) => changeAddOns(work, request, { name: 'Acme' }))
  if (kind !== 'changed') throw new Error(kind)
}

async function items(): Promise<readonly MigrationItem[]> {
  const sql = stack.database.in('sandbox')
  const page = { limit: 10, offset: 0 }
  return listItems(sql, shop.providerId, player.migrations[0]!, 'scheduled', page)
}
