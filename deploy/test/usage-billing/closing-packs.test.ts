import { findCustomer } from '@tollgate/domain/customers/repository'
import { activatePlan } from '@tollgate/domain/billing/activate-plan'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { expect, test } from 'vitest'
import { CrashingProcess, databaseOf } from '../money/crashing-process.ts'
import { deliverPack, packUnitsOf } from './add-pack.ts'
import { closeAt, seller } from './close-at.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* A customer who leaves has packs: they pay once for usage that is not billed yet, and the rest is told and billed. */

const usageShop = new UsageShop()

async function changePlan(purchase: Purchase, at: string): Promise<Purchase> {
  usageShop.runner.clock.set(at)
  const plan = await usageShop.runner.addPlan(usageShop.shop, postPaid)
  const { providerId, product } = usageShop.shop
  const outcome = await usageShop.runner.within(usageShop.shop, async (work) => {
    const customer = await findCustomer(work.sql, providerId, purchase.customerRef)
    const names = { productRef: product.reference, planRef: plan.reference }
    return activatePlan(work, { customer: customer!, ...names, cycleMode: 'calendar', seller })
  })
  // The plan cannot change while an invoice is unpaid. The purchase then stays as it is.
  if (outcome.kind === 'payment-required') return purchase
  if (outcome.kind !== 'activated') throw new Error(outcome.kind)
  return outcome.purchase
}

function close(purchase: Purchase, settle: 'bill_now' | undefined, life = new CrashingProcess()) {
  return closeAt(usageShop, purchase, settle, databaseOf(life, usageShop.runner.database))
}

/** Returns the amount of unbilled usage that a request without a decision is told, in cents. */
async function toldOf(purchase: Purchase): Promise<bigint> {
  const outcome = await close(purchase, undefined)
  if (outcome.kind !== 'unsettled') throw new Error(outcome.kind)
  return outcome.open.amounts.reduce((sum, { unbilledUsageMinor: minor }) => sum + minor, 0n)
}

/** Bills all usage. The customer has no card, so the whole amount is left to be charged. */
async function billedOf(purchase: Purchase): Promise<bigint> {
  const outcome = await close(purchase, 'bill_now')
  if (outcome.kind !== 'uncharged') throw new Error(outcome.kind)
  return outcome.uncharged.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}

/** Makes two purchases: the earlier one gets 80 units of late usage, and the later one 90 units in the running period. */
async function twoPurchases(packUnits: number): Promise<readonly Purchase[]> {
  const first = await usageShop.buy(postPaid)
  await deliverPack(usageShop, first, { units: packUnits })
  await usageShop.use(first, 100, '2026-02-05T00:00:00Z')
  const second = await changePlan(first, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-10T12:00:00Z')
  await usageShop.useLate(first, 80, '2026-02-06T00:00:00Z')
  await usageShop.use(second, 90, '2026-02-12T00:00:00Z')
  usageShop.runner.clock.set('2026-02-15T00:00:00Z')
  return [first, second]
}

test.each([60, 85, 120])(
  'of two purchases of a product, %d units are used once, and the rest is told and billed',
  async (units) => {
    const [, running] = await twoPurchases(units)
    const charged = BigInt(80 + 90 - units)
    expect(await toldOf(running!)).toBe(charged)
    expect(await billedOf(running!)).toBe(charged)
    expect(await packUnitsOf(usageShop, running!)).toEqual([{ used: units, taken: 0 }])
  },
)

test.each([
  ['has ended and is not settled', 10, '2026-02-10T12:00:30Z', 30],
  ['ends later in the period', 20, '2026-02-15T00:00:00Z', 40],
])('a pack that %s pays for the usage until its end', async (_, days, leavesAt, unpaid) => {
  const purchase = await usageShop.buy({ ...postPaid })
  await deliverPack(usageShop, purchase, { units: 50 }, days)
  await usageShop.use(purchase, 120, '2026-02-05T00:00:00Z')
  await usageShop.use(purchase, days === 10 ? 30 : 70, '2026-02-10T12:00:10Z')
  usageShop.runner.clock.set(leavesAt)
  expect(await toldOf(purchase)).toBe(BigInt(unpaid))
  expect(await billedOf(purchase)).toBe(BigInt(unpaid))
})

test('bills the rest once, at whichever step the process dies', async () => {
  let crashes = 0
  for (let atStep = 1; ; atStep += 1) {
    const [, running] = await twoPurchases(85)
    const life = new CrashingProcess({ atStep, sendsPendingCall: false })
    await close(running!, 'bill_now', life).catch((error: unknown) => {
      if (!life.hasCrashed) throw error
    })
    expect(await billedOf(running!), `died ${life.steps.at(-1)}`).toBe(85n)
    expect(await packUnitsOf(usageShop, running!)).toEqual([{ used: 85, taken: 0 }])
    if (!life.hasCrashed) break
    crashes += 1
    usageShop.runner.clock.set('2026-01-31T12:00:00Z')
  }
  expect(crashes).toBeGreaterThan(4)
})

const { numRuns: histories, seed } = randomRuns(4, process.env['TOLLGATE_TEST_CLOSING_HISTORIES'])

/** Within one period, plans change, packs are bought and may end, and usage arrives late. Returns the last purchase. */
async function randomHistory(random: SeededRandom): Promise<{ last: Purchase; usage: number }> {
  let last = await usageShop.buy(postPaid)
  let usage = 0
  for (let day = 2; day <= 20; day += 2) {
    const on = (date: number) => `2026-02-${String(date).padStart(2, '0')}`
    usageShop.runner.clock.set(`${on(day)}T10:00:00Z`)
    switch (random.below(5)) {
      case 0: {
        const days = random.below(2) === 0 ? undefined : 1 + random.below(15)
        await deliverPack(usageShop, last, { units: 10 + random.below(80) }, days)
        break
      }
      case 1:
        last = await changePlan(last, `${on(day)}T10:00:00Z`)
        break
      case 2:
        await usageShop.bill(`${on(day)}T10:00:00Z`, usageShop.withDecliningCard)
        break
      default: {
        const units = 10 + random.below(90)
        const late = random.below(2) === 0 ? 1 + random.below(day) : day
        await usageShop.useLate(last, units, `${on(late)}T09:00:00Z`)
        usage += units
      }
    }
  }
  return { last, usage }
}

test(`adds up to the usage in random histories (seed ${seed})`, async () => {
  for (let history = 0; history < histories; history += 1) {
    usageShop.runner.clock.set('2026-01-31T12:00:00Z')
    const { last, usage } = await randomHistory(new SeededRandom(seed + history))
    const told = await close(last, undefined)
    // Packs have paid for everything.
    if (told.kind === 'deleted') continue
    if (told.kind !== 'unsettled') throw new Error(told.kind)
    const [open] = told.open.amounts
    const billed = await billedOf(last)
    const owed = open!.openInvoicesMinor + open!.carriedMinor + open!.unbilledUsageMinor
    expect(billed, `seed ${seed + history}`).toBe(owed)
    const drawn = (await packUnitsOf(usageShop, last)).reduce((sum, { used }) => sum + used, 0)
    const excess = Math.max(0, usage - 100)
    expect(Number(billed) + drawn, `seed ${seed + history}`).toBe(excess)
  }
})
