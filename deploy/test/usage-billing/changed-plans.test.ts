import { findCustomer } from '@tollgate/domain/customers/repository'
import { activatePlan } from '@tollgate/domain/billing/activate-plan'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { expect, test } from 'vitest'
import { postPaid, UsageShop } from './usage-shop.ts'

/* Usage of customers who change between plans that are billed afterwards, each with 100 free units. */

const usageShop = new UsageShop()
const seller = { name: 'Acme' }

async function change(purchase: Purchase, at: string): Promise<Purchase> {
  usageShop.runner.clock.set(at)
  const plan = await usageShop.runner.addPlan(usageShop.shop, postPaid)
  const { providerId, product } = usageShop.shop
  const outcome = await usageShop.runner.within(usageShop.shop, async (work) => {
    const customer = await findCustomer(work.sql, providerId, purchase.customerRef)
    return activatePlan(work, {
      customer: customer!,
      productRef: product.reference,
      planRef: plan.reference,
      cycleMode: 'calendar',
      seller,
    })
  })
  if (outcome.kind !== 'activated') throw new Error(outcome.kind)
  return outcome.purchase
}

async function totalsOf(purchases: readonly Purchase[]): Promise<bigint[]> {
  const invoices = await Promise.all(purchases.map((each) => usageShop.invoicesOf(each)))
  return invoices.map((each) => each.reduce((sum, { totalMinor }) => sum + totalMinor, 0n))
}

test('bills 540 units of a week with 440 cents, with six plan changes or none', async () => {
  const calm = await usageShop.buy(postPaid)
  let changing = await usageShop.buy(postPaid)
  const purchases = [changing]
  for (let day = 1; day <= 6; day += 1) {
    const date = `2026-02-0${day}T12:00:00Z`
    await usageShop.use(calm, 80, date)
    await usageShop.use(changing, 80, date)
    changing = await change(changing, `2026-02-0${day}T18:00:00Z`)
    purchases.push(changing)
  }
  await usageShop.use(calm, 60, '2026-02-07T12:00:00Z')
  await usageShop.use(changing, 60, '2026-02-07T12:00:00Z')
  expect(changing.replaces).toBe(purchases.at(-2)!.reference)
  await usageShop.bill('2026-03-10T12:00:00Z')
  expect(await totalsOf([calm])).toEqual([440n])
  const totals = await totalsOf(purchases)
  expect(totals).toEqual([0n, 60n, 80n, 80n, 80n, 80n, 60n])
  expect(totals.reduce((sum, total) => sum + total, 0n)).toBe(440n)
  // The next period has its own free units.
  await usageShop.use(changing, 130, '2026-03-11T12:00:00Z')
  await usageShop.bill('2026-04-10T12:00:00Z')
  expect(await totalsOf([changing])).toEqual([60n + 30n])
})

test('counts late units of a replaced plan against the free units of the next plan', async () => {
  const before = await usageShop.buy(postPaid)
  await usageShop.use(before, 40, '2026-02-01T12:00:00Z')
  const after = await change(before, '2026-02-02T12:00:00Z')
  await usageShop.use(after, 60, '2026-02-03T12:00:00Z')
  await usageShop.bill('2026-03-03T12:00:00Z')
  expect(await totalsOf([before, after])).toEqual([0n, 0n])
  await usageShop.useLate(before, 50, '2026-02-01T13:00:00Z')
  await usageShop.bill('2026-04-03T12:00:00Z')
  expect(await totalsOf([before, after])).toEqual([0n, 50n])
})
