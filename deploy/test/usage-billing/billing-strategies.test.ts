import { settleCharge } from '@tollgate/domain/charging/settle-charge'
import { addCarried, readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import { endNow, movePurchase } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { describe, expect, test } from 'vitest'
import { hybrid, postPaid, UsageShop } from './usage-shop.ts'

/* Billing of usage in addition to a price paid in advance, for purchases that are suspended at times. */

const of = new UsageShop()

describe('a base price and the usage before it', () => {
  const kindsOf = async (purchase: Purchase): Promise<string[][]> =>
    (await of.invoicesOf(purchase)).map(({ lines }) => lines.map(({ inputs }) => inputs.kind))
  const at = '2026-03-01T00:00:00Z'

  test('are two invoices, the price first, in any order of the jobs', async () => {
    const purchase = await of.buy(hybrid)
    await of.use(purchase, 100, '2026-02-10T00:00:00Z')
    expect(await of.bill(at)).toEqual(new Map([['postponed', 1]]))
    expect(await of.invoicesOf(purchase)).toEqual([])
    await of.renew(at)
    await of.bill(at)
    expect(await kindsOf(purchase)).toEqual([['recurring'], ['usage']])
    expect(of.asked.map(({ amountMinor }) => amountMinor)).toEqual([4_900n, 100n])
  })

  test('are two invoices, the usage first, if the plan says so', async () => {
    const purchase = await of.buy({ ...hybrid, billingStrategy: 'usage_first' })
    await of.use(purchase, 100, '2026-02-10T00:00:00Z')
    expect(await of.renew(at)).toEqual(new Map([['postponed', 1]]))
    expect(await of.invoicesOf(purchase)).toEqual([])
    await of.bill(at)
    expect(await kindsOf(purchase)).toEqual([['usage'], ['recurring']])
    expect(of.asked.map(({ amountMinor }) => amountMinor)).toEqual([100n, 4_900n])
    expect((await of.now(purchase)).nextBillingDate).toEqual(new Date('2026-03-31T12:00:00Z'))
  })

  test('are one invoice, charged once, if the plan says so', async () => {
    const purchase = await of.buy({ ...hybrid, billingStrategy: 'combined' })
    await of.use(purchase, 750, '2026-02-10T00:00:00Z')
    await of.renew(at)
    await of.bill(at)
    await of.renew(at)
    expect(await kindsOf(purchase)).toEqual([['recurring', 'usage']])
    expect(of.asked).toMatchObject([{ amountMinor: 5_650n }])
    expect((await of.now(purchase)).nextBillingDate).toEqual(new Date('2026-03-31T12:00:00Z'))
    expect(await of.runner.events(of.shop, /^purchase\.renewed$/)).toHaveLength(1)
  })

  test('are one invoice that is retried after a decline, like a renewal', async () => {
    const purchase = await of.buy({ ...hybrid, billingStrategy: 'combined' })
    await of.use(purchase, 750, '2026-02-10T00:00:00Z')
    await of.bill(at, of.withDecliningCard)
    expect(await of.now(purchase)).toMatchObject({ status: 'past_due' })
    await of.runner.runJob('payment-retries', '2026-03-01T05:00:00Z', of.paying)
    expect(of.asked.map(({ amountMinor }) => amountMinor)).toEqual([5_650n, 5_650n])
    expect(await of.now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
  })
})

describe('a price and usage on one invoice, of a purchase that ends before it is paid', () => {
  const at = '2026-03-01T00:00:00Z'
  let purchase: Purchase

  const end = (ended: Purchase): Promise<unknown> =>
    of.runner.within(of.shop, async (work) => {
      const held = await lockPurchase(work.sql, work.providerId, ended.reference)
      return endNow(work, held!, 'cancelled')
    })

  const billed = async (carriedMinor: bigint): Promise<void> => {
    purchase = await of.buy({ ...hybrid, billingStrategy: 'combined' })
    await of.use(purchase, 750, '2026-02-10T00:00:00Z')
    await of.runner.within(of.shop, ({ sql, providerId, now }) =>
      addCarried(sql, providerId, { ...purchase, currency: 'USD' }, carriedMinor, now),
    )
    await of.bill(at, of.withDecliningCard)
  }

  test('charge the usage, but not the price of a period that does not begin', async () => {
    await billed(0n)
    await end(purchase)
    await end(purchase).catch(() => undefined)
    expect(await of.invoicesOf(purchase)).toMatchObject([
      { status: 'open', totalMinor: 5_650n, creditedMinor: 4_900n },
    ])
    await of.runner.runJob('payment-retries', '2026-03-01T05:00:00Z', of.paying)
    expect(of.asked.map(({ amountMinor }) => amountMinor)).toEqual([5_650n, 750n])
    expect(await of.invoicesOf(purchase)).toMatchObject([{ status: 'paid', paidMinor: 750n }])
    expect(await of.now(purchase)).toMatchObject({ status: 'cancelled' })
  })

  test('return the credit that was reserved for the price to the customer', async () => {
    await billed(-1_000n)
    await end(purchase)
    const name = { ...purchase, currency: 'USD' }
    expect(await of.invoicesOf(purchase)).toMatchObject([
      { status: 'paid', totalMinor: 4_650n, paidMinor: 0n, carriedMinor: 4_650n },
    ])
    const sql = of.runner.database.in('sandbox')
    expect(await readCarried(sql, of.shop.providerId, name)).toBe(-250n)
    expect(await listUnbalancedInvoices(sql, 9)).toEqual([])
  })
})

test('bills a purchase that was suspended after its trial from the period in which it is paid', async () => {
  const plan = await of.runner.addPlan(of.shop, { ...hybrid, trialDays: 14 })
  const purchase = await of.runner.startTrial(of.shop, plan)
  await of.runner.saveCard(of.shop, purchase.customerRef)
  await of.runner.runJob('trial-expiry', '2026-02-15T08:00:00Z', of.withDecliningCard)
  expect(await of.now(purchase)).toMatchObject({ status: 'suspended', nextUsageBillAt: null })
  await of.paying(of.asked[0]!)
  await of.runner.within(of.shop, (work) =>
    settleCharge(work, of.asked[0]!.invoiceRef, { kind: 'paid' }, { hours: [], jitterMs: 0 }),
  )
  const nextUsageBillAt = new Date('2026-03-14T12:00:00Z')
  expect(await of.now(purchase)).toMatchObject({ status: 'active', nextUsageBillAt })
})

test('emits no event for periods without usage of a suspended purchase', async () => {
  const purchase = await of.buy({ ...postPaid, freeUnits: 0 })
  await of.use(purchase, 100, '2026-02-10T00:00:00Z')
  await of.runner.within(of.shop, async (work) => {
    const held = await lockPurchase(work.sql, work.providerId, purchase.reference)
    const pastDue = await movePurchase(work, held!, 'renewal-failed')
    await movePurchase(work, pastDue, 'retries-spent')
  })
  // There is no charging, so what is paid continues.
  await of.runner.runJob('usage-billing', '2026-06-01T00:00:00Z')
  expect((await of.invoicesOf(purchase)).map(({ totalMinor }) => totalMinor)).toEqual([100n])
})
