import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { AgreedPrice } from '@tollgate/schemas/http/agreed-prices'
import { expect, test } from 'vitest'
import { hybrid, UsageShop } from './usage-shop.ts'

/* Bills and renewals of purchases with ramps and agreed prices: each period and its late usage has the prices that it began with. */

const usageShop = new UsageShop()

async function agree(
  { customerRef, productRef, planRef }: Purchase,
  at: string,
  prices: readonly Omit<AgreedPrice, 'planRef'>[],
): Promise<void> {
  usageShop.runner.clock.set(at)
  const named = prices.map((price) => ({ planRef: planRef!, ...price }))
  const outcome = await usageShop.runner.within(usageShop.shop, (work) =>
    changeOverrides(
      work,
      { customerRef, productRef },
      { charges: [], usageLimits: [], prices: named },
    ),
  )
  expect(outcome).toMatchObject({ kind: 'changed' })
}

const amounts = (lines: readonly InvoiceLine[]) =>
  lines
    .filter(({ inputs }) => inputs.kind !== 'carried_in')
    .map(({ inputs, amountMinor }) => [inputs.kind, Number(amountMinor)])

async function chargedOf(purchase: Purchase) {
  const invoices = await usageShop.invoicesOf(purchase)
  for (const invoice of invoices) expect(recomputeInvoice(invoice)).toEqual([])
  return invoices.map(({ lines }) => amounts(lines))
}

/** Ends of the periods of a purchase that began on 31 January at noon, a minute later. */
const ends = [
  '2026-02-28T12:01:00Z',
  '2026-03-31T12:01:00Z',
  '2026-04-30T12:01:00Z',
  '2026-05-31T12:01:00Z',
] as const

test('charges the base price, the units, the minimum and late usage by the step of their period', async () => {
  const purchase = await usageShop.buy({
    ...{ ...hybrid, minimumCommitment: 900 },
    ramp: [
      { periods: 1, creditsPerUnit: 300, minimumCommitment: 0 },
      { periods: 1, price: 1_000, creditsPerUnit: 200 },
    ],
  })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  await usageShop.renew(ends[0])
  await usageShop.bill('2026-02-28T13:10:00Z')
  await usageShop.use(purchase, 100, '2026-03-10T00:00:00Z')
  await usageShop.useLate(purchase, 10, '2026-02-20T00:00:00Z')
  await usageShop.renew(ends[1])
  await usageShop.bill('2026-03-31T13:10:00Z')
  await usageShop.use(purchase, 100, '2026-04-10T00:00:00Z')
  await usageShop.renew(ends[2])
  await usageShop.bill('2026-04-30T13:10:00Z')
  expect(await chargedOf(purchase)).toEqual([
    [['recurring', 1_000]],
    [['usage', 300]],
    [['recurring', 4_900]],
    [
      ['late_usage', 30],
      ['usage', 200],
      ['minimum', 700],
    ],
    [['recurring', 4_900]],
    [
      ['usage', 100],
      ['minimum', 800],
    ],
  ])
})

test('bills the next period of a combined plan at its own step', async () => {
  const purchase = await usageShop.buy({
    ...{ ...hybrid, billingStrategy: 'combined' },
    ramp: [
      { periods: 1, price: 500 },
      { periods: 1, price: 1_000, creditsPerUnit: 700 },
    ],
  })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  await usageShop.bill('2026-02-28T13:10:00Z')
  await usageShop.use(purchase, 100, '2026-03-10T00:00:00Z')
  await usageShop.bill('2026-03-31T13:10:00Z')
  expect(await chargedOf(purchase)).toEqual([
    [
      ['recurring', 1_000],
      ['usage', 100],
    ],
    [
      ['recurring', 4_900],
      ['usage', 700],
    ],
  ])
})

test('an agreement within a period waits for the next one, and its end brings the price of the plan back', async () => {
  const purchase = await usageShop.buy(hybrid)
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  await agree(purchase, '2026-02-12T00:00:00Z', [
    { price: 2_500, creditsPerUnit: 50, until: '2026-03-31T12:00:00Z' },
  ])
  await usageShop.renew(ends[0])
  await usageShop.bill('2026-02-28T13:10:00Z')
  await usageShop.use(purchase, 100, '2026-03-10T00:00:00Z')
  await usageShop.renew(ends[1])
  await usageShop.bill('2026-03-31T13:10:00Z')
  // A change after the renewal does not change what the running period costs.
  await agree(purchase, '2026-04-01T00:00:00Z', [{ price: 100 }])
  await usageShop.renew('2026-04-20T00:00:00Z')
  expect(await chargedOf(purchase)).toEqual([
    [['recurring', 2_500]],
    [['usage', 100]],
    [['recurring', 4_900]],
    [['usage', 50]],
  ])
})

test('a period that is free is not charged, and the next one is', async () => {
  const purchase = await usageShop.buy(hybrid)
  const until = '2026-03-31T12:00:00Z'
  await agree(purchase, '2026-02-12T00:00:00Z', [{ price: 0, until }])
  for (const at of ends.slice(0, 3)) await usageShop.renew(at)
  const recurring = (await chargedOf(purchase)).flat().filter(([kind]) => kind === 'recurring')
  expect(recurring).toEqual([
    ['recurring', 4_900],
    ['recurring', 4_900],
  ])
  expect((await usageShop.now(purchase)).nextBillingDate?.toISOString()).toBe(
    '2026-05-31T12:00:00.000Z',
  )
})

test('a reminder has the price of the period that begins', async () => {
  const purchase = await usageShop.buy({
    ...{ type: 'recurring', billingCycle: 'monthly', price: 4_000, setupFee: 300 },
    ramp: [{ periods: 1, price: 1_000 }],
  })
  await usageShop.runner.runJob('reminders', '2026-02-26T12:00:00Z', usageShop.paying)
  const [reminder] = await usageShop.runner.events(usageShop.shop, /renewal_reminder/)
  expect(reminder?.object).toMatchObject({ reference: purchase.reference, amount: 4_000 })
})

test('the first paid period after a trial is the first one of the ramp', async () => {
  const { runner, shop } = usageShop
  const plan = await runner.addPlan(shop, {
    ...{ type: 'recurring', billingCycle: 'monthly', price: 4_000, trialDays: 7 },
    ramp: [{ periods: 1, price: 1_000 }],
  })
  const purchase = await runner.startTrial(shop, plan)
  await runner.saveCard(shop, purchase.customerRef)
  await runner.runJob('trial-expiry', '2026-02-07T12:01:00Z', usageShop.paying)
  await usageShop.renew('2026-03-07T12:01:00Z')
  expect(await chargedOf(purchase)).toEqual([[['recurring', 1_000]], [['recurring', 4_000]]])
})
