import { applyChargeOutcome } from '@tollgate/domain/charging/apply-charge-outcome'
import { addCarried, readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import { endNow, movePurchase } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { describe, expect, test } from 'vitest'
import { hybrid, postPaid, UsageShop } from './usage-shop.ts'

/* Billing of usage in addition to a price paid in advance, for purchases that are suspended at times. */

const usageShop = new UsageShop()

describe('a base price and the usage before it', () => {
  const kindsOf = async (purchase: Purchase): Promise<string[][]> =>
    (await usageShop.invoicesOf(purchase)).map(({ lines }) =>
      lines.map(({ inputs }) => inputs.kind),
    )
  const at = '2026-03-01T00:00:00Z'

  test('are two invoices, the price first, in any order of the jobs', async () => {
    const purchase = await usageShop.buy(hybrid)
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    expect(await usageShop.bill(at)).toEqual(new Map([['postponed', 1]]))
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
    await usageShop.renew(at)
    await usageShop.bill(at)
    expect(await kindsOf(purchase)).toEqual([['recurring'], ['usage']])
    expect(usageShop.asked.map(({ amountMinor }) => amountMinor)).toEqual([4_900n, 100n])
  })

  test('are two invoices, the usage first, if the plan says so', async () => {
    const purchase = await usageShop.buy({ ...hybrid, billingStrategy: 'usage_first' })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    expect(await usageShop.renew(at)).toEqual(new Map([['postponed', 1]]))
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
    await usageShop.bill(at)
    expect(await kindsOf(purchase)).toEqual([['usage'], ['recurring']])
    expect(usageShop.asked.map(({ amountMinor }) => amountMinor)).toEqual([100n, 4_900n])
    expect((await usageShop.now(purchase)).nextBillingDate).toEqual(
      new Date('2026-03-31T12:00:00Z'),
    )
  })

  test('are one invoice, charged once, if the plan says so', async () => {
    const purchase = await usageShop.buy({ ...hybrid, billingStrategy: 'combined' })
    await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
    await usageShop.renew(at)
    await usageShop.bill(at)
    await usageShop.renew(at)
    expect(await kindsOf(purchase)).toEqual([['recurring', 'usage']])
    expect(usageShop.asked).toMatchObject([{ amountMinor: 5_650n }])
    expect((await usageShop.now(purchase)).nextBillingDate).toEqual(
      new Date('2026-03-31T12:00:00Z'),
    )
    expect(await usageShop.runner.events(usageShop.shop, /^purchase\.renewed$/)).toHaveLength(1)
  })

  test('are one invoice that is retried after a decline, like a renewal', async () => {
    const purchase = await usageShop.buy({ ...hybrid, billingStrategy: 'combined' })
    await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
    await usageShop.bill(at, usageShop.withDecliningCard)
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'past_due' })
    await usageShop.runner.runJob('payment-retries', '2026-03-01T05:00:00Z', usageShop.paying)
    expect(usageShop.asked.map(({ amountMinor }) => amountMinor)).toEqual([5_650n, 5_650n])
    expect(await usageShop.now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
  })
})

describe('a price and usage on one invoice, of a purchase that ends before it is paid', () => {
  const at = '2026-03-01T00:00:00Z'
  let purchase: Purchase

  const end = (ended: Purchase): Promise<unknown> =>
    usageShop.runner.within(usageShop.shop, async (work) => {
      const held = await lockPurchase(work.sql, work.providerId, ended.reference)
      return endNow(work, held!, 'cancelled')
    })

  const billed = async (carriedMinor: bigint): Promise<void> => {
    purchase = await usageShop.buy({ ...hybrid, billingStrategy: 'combined' })
    await usageShop.use(purchase, 750, '2026-02-10T00:00:00Z')
    await usageShop.runner.within(usageShop.shop, ({ sql, providerId, now }) =>
      addCarried(sql, providerId, { ...purchase, currency: 'USD' }, carriedMinor, now),
    )
    await usageShop.bill(at, usageShop.withDecliningCard)
  }

  test('charge the usage, but not the price of a period that does not begin', async () => {
    await billed(0n)
    await end(purchase)
    await end(purchase).catch(() => undefined)
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { status: 'open', totalMinor: 5_650n, creditedMinor: 4_900n },
    ])
    await usageShop.runner.runJob('payment-retries', '2026-03-01T05:00:00Z', usageShop.paying)
    expect(usageShop.asked.map(({ amountMinor }) => amountMinor)).toEqual([5_650n, 750n])
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { status: 'paid', paidMinor: 750n },
    ])
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'cancelled' })
  })

  test('return the credit that was reserved for the price to the customer', async () => {
    await billed(-1_000n)
    await end(purchase)
    const name = { ...purchase, currency: 'USD' }
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { status: 'paid', totalMinor: 4_650n, paidMinor: 0n, carriedMinor: 4_650n },
    ])
    const sql = usageShop.runner.database.in('sandbox')
    expect(await readCarried(sql, usageShop.shop.providerId, name)).toBe(-250n)
    expect(await listUnbalancedInvoices(sql, 9)).toEqual([])
  })
})

test('bills a purchase that was suspended after its trial from the period in which it is paid', async () => {
  const plan = await usageShop.runner.addPlan(usageShop.shop, { ...hybrid, trialDays: 14 })
  const purchase = await usageShop.runner.startTrial(usageShop.shop, plan)
  await usageShop.runner.saveCard(usageShop.shop, purchase.customerRef)
  await usageShop.runner.runJob('trial-expiry', '2026-02-15T08:00:00Z', usageShop.withDecliningCard)
  expect(await usageShop.now(purchase)).toMatchObject({
    status: 'suspended',
    nextUsageBillAt: null,
  })
  await usageShop.paying(usageShop.asked[0]!)
  await usageShop.runner.within(usageShop.shop, (work) =>
    applyChargeOutcome(
      work,
      usageShop.asked[0]!.invoiceRef,
      { kind: 'paid' },
      { hours: [], jitterMs: 0 },
    ),
  )
  const nextUsageBillAt = new Date('2026-03-14T12:00:00Z')
  expect(await usageShop.now(purchase)).toMatchObject({ status: 'active', nextUsageBillAt })
})

test('emits no event for periods without usage of a suspended purchase', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  await usageShop.runner.within(usageShop.shop, async (work) => {
    const held = await lockPurchase(work.sql, work.providerId, purchase.reference)
    const pastDue = await movePurchase(work, held!, 'renewal-failed')
    await movePurchase(work, pastDue, 'retries-spent')
  })
  // There is no charging, so what is paid continues.
  await usageShop.runner.runJob('usage-billing', '2026-06-01T00:00:00Z')
  expect((await usageShop.invoicesOf(purchase)).map(({ totalMinor }) => totalMinor)).toEqual([100n])
})
