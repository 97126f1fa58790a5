import { deleteCustomer } from '@tollgate/domain/deletion/delete-customer'
import { linkReference } from '@tollgate/domain/customers/repository'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { createOutput } from '@tollgate/platform/cli/output'
import { runJobs } from '@tollgate/billing-runner/cli/run-jobs'
import { endNow, movePurchase } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase } from '@tollgate/domain/purchases/repository'
import { describe, expect, test, vi } from 'vitest'
import { hybrid, postPaid, UsageShop } from './usage-shop.ts'

/* The usage of a period is invoiced once: when it is billed, and which part of it. */

const usageShop = new UsageShop()

describe('the usage of a period', () => {
  test('is billed once after the period and its grace time, with all details', async () => {
    const purchase = await usageShop.buy(postPaid)
    await usageShop.use(purchase, 5_000, '2026-02-10T00:00:00Z')
    await usageShop.use(purchase, 250, '2026-02-28T11:59:59.999Z')
    await usageShop.use(purchase, 1_000, '2026-02-28T12:00:00Z')
    expect(await usageShop.bill('2026-02-28T12:59:59.999Z')).toEqual(new Map())
    await usageShop.bill('2026-02-28T13:00:00Z')
    await usageShop.bill('2026-02-28T13:00:00Z')
    const [invoice, ...others] = await usageShop.invoicesOf(purchase)
    expect(others).toEqual([])
    expect(invoice).toMatchObject({ status: 'paid', totalMinor: 5_150n, paidMinor: 5_150n })
    expect(invoice!.lines).toMatchObject([
      {
        period: { start: purchase.anchor, end: new Date('2026-02-28T12:00:00Z') },
        inputs: {
          kind: 'usage',
          usedUnits: '5250',
          terms: { freeUnits: '100', limit: '10000', rate: { creditsPerUnit: '100' } },
          reading: { meterName: 'requests', watermark: '2026-02-28T13:00:00.000Z' },
        },
      },
    ])
    expect(recomputeInvoice(invoice!)).toEqual([])
    expect(usageShop.asked).toMatchObject([{ amountMinor: 5_150n, currency: 'USD' }])
    const [told, ...more] = await usageShop.runner.events(usageShop.shop, /^usage\.charged$/)
    expect(more).toEqual([])
    expect(told?.object).toMatchObject({
      reference: invoice!.reference,
      purchase: purchase.reference,
      quantity: 5_250,
      amount: 5_150,
      currency: 'usd',
      periodStart: purchase.anchor.getTime() / 1000,
    })
  })

  test('is not billed if the customer is deleted while it is summed up', async () => {
    const purchase = await usageShop.buy(postPaid)
    await usageShop.use(purchase, 5_000, '2026-02-10T00:00:00Z')
    usageShop.runner.clock.set('2026-02-20T00:00:00Z')
    await usageShop.runner.within(usageShop.shop, async (work) => {
      const held = await lockPurchase(work.sql, work.providerId, purchase.reference)
      await endNow(work, held!, 'expired')
    })
    const { usageStore } = usageShop.runner.parts
    const query = usageStore.query.bind(usageStore)
    vi.spyOn(usageStore, 'query').mockImplementationOnce(async (...request) => {
      await usageShop.runner.within(usageShop.shop, (work) =>
        deleteCustomer(work, purchase.customerRef),
      )
      return query(...request)
    })
    expect((await usageShop.bill('2026-02-20T02:00:00Z')).has('failed')).toBe(false)
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
  })

  test('includes all references of the customer, and counts a repeated key once', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    const externalRef = `user-${purchase.reference}`
    const at = new Date('2026-02-10T00:00:00Z')
    usageShop.runner.clock.set(at.toISOString())
    const usage = { customerRef: externalRef, micros: 100_000_000n, at }
    const keyed = { ...usage, idempotencyKey: 'once' }
    // The usage is recorded before its reference is linked to the customer.
    await usageShop.stack.record(usageShop.shop, [usage, keyed, keyed])
    await usageShop.runner.within(usageShop.shop, ({ sql, providerId }) =>
      linkReference(sql, providerId, purchase.customerRef, externalRef, at),
    )
    await usageShop.use(purchase, 50, '2026-02-11T00:00:00Z')
    await usageShop.bill('2026-03-01T00:00:00Z')
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ totalMinor: 250n }])
  })

  test('is not billed for a purchase that was refunded in full', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    usageShop.runner.clock.set('2026-02-11T00:00:00Z')
    await usageShop.runner.within(usageShop.shop, async (work) => {
      const held = await lockPurchase(work.sql, work.providerId, purchase.reference)
      const ended = { autoRenew: false, nextBillingDate: null, endedAt: work.now }
      await movePurchase(work, held!, 'refunded', ended)
    })
    await usageShop.bill('2026-02-11T02:00:00Z')
    await usageShop.bill('2026-05-01T00:00:00Z')
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
  })

  test('is billed only after all acknowledged records are stored', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    await usageShop.stack.stopProjections()
    await usageShop.use(purchase, 100, '2026-02-20T00:00:00Z')
    const impatient = { TOLLGATE_USAGE_STORED_WAIT_MS: '50', TOLLGATE_BILLING_TRIES_MAX: '1' }
    const at = '2026-03-01T00:00:00Z'
    const totals = await usageShop.runner.runJob('usage-billing', at, usageShop.paying, impatient)
    expect(totals).toEqual(new Map([['failed', 1]]))
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
    await usageShop.stack.startProjections()
    await usageShop.bill(at)
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ totalMinor: 200n }])
  })

  test('is carried to the next invoice if it is too small to charge', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 30, '2026-02-10T00:00:00Z')
    await usageShop.bill('2026-03-01T00:00:00Z')
    expect(usageShop.asked).toEqual([])
    await usageShop.use(purchase, 40, '2026-03-10T00:00:00Z')
    await usageShop.bill('2026-04-01T00:00:00Z')
    expect(usageShop.asked).toMatchObject([{ amountMinor: 70n }])
    const [first, second] = await usageShop.invoicesOf(purchase)
    expect(first).toMatchObject({ status: 'paid', totalMinor: 30n, carriedMinor: 30n })
    expect(second).toMatchObject({ totalMinor: 70n, paidMinor: 70n })
    expect(second!.lines.map(({ inputs }) => inputs.kind)).toEqual(['usage', 'carried_in'])
  })

  test('is on the next invoice if it was recorded late, priced in its own tier', async () => {
    const usageTiers = [
      { name: 'First', minUsage: 0, maxUsage: 100, creditsPerUnit: 200 },
      { name: 'Rest', minUsage: 101, creditsPerUnit: 100 },
    ]
    const purchase = await usageShop.buy({ ...hybrid, basePrice: 0, usageTiers })
    await usageShop.use(purchase, 90, '2026-02-10T00:00:00Z')
    await usageShop.bill('2026-02-28T13:00:00Z')
    await usageShop.useLate(purchase, 30, '2026-02-20T00:00:00Z')
    await usageShop.use(purchase, 100, '2026-03-16T00:00:00Z')
    await usageShop.bill('2026-03-31T13:00:00Z')
    const [, second] = await usageShop.invoicesOf(purchase)
    // 10 more units at 2 cents and 20 at 1 cent.
    expect(second!.lines).toMatchObject([
      { inputs: { kind: 'late_usage', usedUnits: '90', lateUnits: '30' }, amountMinor: 40n },
      { inputs: { kind: 'usage', usedUnits: '100' }, amountMinor: 200n },
    ])
  })

  test('is billed period by period if several periods have passed', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    await usageShop.use(purchase, 200, '2026-04-10T00:00:00Z')
    await usageShop.bill('2026-05-01T00:00:00Z')
    const totals = (await usageShop.invoicesOf(purchase)).map(({ totalMinor }) => totalMinor)
    expect(totals).toEqual([100n, 200n])
  })

  test('is billed for a purchase from before its next billing time was stored', async () => {
    const noted = { nextUsageBillAt: new Date('2026-01-31T12:00:00Z') }
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 }, noted)
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    await usageShop.bill('2026-02-01T00:00:00Z')
    expect((await usageShop.now(purchase)).nextUsageBillAt).toEqual(
      new Date('2026-02-28T12:00:00Z'),
    )
    await usageShop.bill('2026-03-01T00:00:00Z')
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ totalMinor: 100n }])
  })

  test('is not billed during a trial', async () => {
    const plan = await usageShop.runner.addPlan(usageShop.shop, {
      ...hybrid,
      basePrice: 0,
      trialDays: 14,
    })
    const purchase = await usageShop.runner.startTrial(usageShop.shop, plan)
    await usageShop.use(purchase, 1_000, '2026-02-10T00:00:00Z')
    await usageShop.runner.runJob('trial-expiry', '2026-02-15T08:00:00Z')
    await usageShop.use(purchase, 100, '2026-03-01T00:00:00Z')
    await usageShop.bill('2026-03-20T00:00:00Z')
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ totalMinor: 100n }])
  })

  test('is charged again after a decline, and paid in the end', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    await usageShop.bill('2026-03-01T00:00:00Z', usageShop.withDecliningCard)
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'past_due', retryCount: 1 })
    expect(await usageShop.runner.events(usageShop.shop, /^purchase\.past_due$/)).toHaveLength(1)
    await usageShop.runner.runJob('payment-retries', '2026-03-01T05:00:00Z', usageShop.paying)
    expect(usageShop.asked.map(({ amountMinor }) => amountMinor)).toEqual([100n, 100n])
    expect(await usageShop.now(purchase)).toMatchObject({ status: 'active', retryCount: 0 })
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ status: 'paid' }])
  })
})

describe('the end of a purchase', () => {
  test('bills the usage of its last period, and late usage afterwards', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    usageShop.runner.clock.set('2026-02-12T06:30:00.250Z')
    await usageShop.runner.within(usageShop.shop, async (work) => {
      const held = await lockPurchase(work.sql, work.providerId, purchase.reference)
      await endNow(work, held!, 'cancelled')
    })
    await usageShop.bill('2026-02-12T07:30:00.249Z')
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
    await usageShop.bill('2026-02-12T07:30:00.250Z')
    const end = new Date('2026-02-12T06:30:00.250Z')
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { totalMinor: 100n, lines: [{ period: { start: purchase.anchor, end } }] },
    ])
    usageShop.runner.clock.set('2026-03-10T00:00:00Z')
    await usageShop.useLate(purchase, 70, '2026-02-11T00:00:00Z')
    await usageShop.bill('2026-03-14T07:30:00.249Z')
    expect(await usageShop.invoicesOf(purchase)).toHaveLength(1)
    await usageShop.bill('2026-03-14T07:30:00.250Z')
    await usageShop.bill('2026-09-01T00:00:00Z')
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{}, { totalMinor: 70n }])
    expect(usageShop.asked.map(({ amountMinor }) => amountMinor)).toEqual([100n, 70n])
    expect(await usageShop.now(purchase)).toMatchObject({
      nextUsageBillAt: null,
      usageClosesAt: null,
    })
  })

  test('is its last bill if it was cancelled at the end of its period', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    await usageShop.runner.within(usageShop.shop, (work) =>
      cancelPurchase(work, purchase.reference, null),
    )
    await usageShop.runner.runJob('ended-purchases', '2026-02-28T12:00:00Z')
    await usageShop.bill('2026-02-28T13:00:00Z')
    await usageShop.bill('2026-05-01T00:00:00Z')
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([{ totalMinor: 100n }])
  })

  test('by a plan change bills each unit under one of the two plans', async () => {
    const first = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    // Usage up to 5 minutes before a purchase counts for it, unless there was an earlier purchase.
    await usageShop.use(first, 100, '2026-02-12T05:57:00Z')
    usageShop.runner.clock.set('2026-02-12T06:00:00Z')
    await usageShop.runner.within(usageShop.shop, async (work) => {
      const held = await lockPurchase(work.sql, work.providerId, first.reference)
      await endNow(work, held!, 'expired')
    })
    const plan = await usageShop.runner.addPlan(usageShop.shop, {
      ...postPaid,
      freeUnits: 0,
      creditsPerUnit: 300,
    })
    const { customerRef } = first
    const second = await usageShop.runner.buy(usageShop.shop, plan, { customerRef })
    // The amount is large enough to be charged. A smaller one would be carried to the other invoice, if that came later.
    await usageShop.use(first, 20, '2026-02-12T06:00:00Z')
    await usageShop.bill('2026-03-13T00:00:00Z')
    expect(await usageShop.invoicesOf(first)).toMatchObject([{ totalMinor: 100n }])
    expect(await usageShop.invoicesOf(second)).toMatchObject([{ totalMinor: 60n }])
  })

  test('by deleting the customer ends its bills', async () => {
    const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
    await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
    await usageShop.runner.within(usageShop.shop, (work) =>
      deleteCustomer(work, purchase.customerRef),
    )
    const totals = await usageShop.bill('2026-03-01T00:00:00Z')
    expect(totals).toEqual(new Map([['done', 1]]))
    expect(await usageShop.invoicesOf(purchase)).toEqual([])
    expect(await usageShop.now(purchase)).toMatchObject({
      nextUsageBillAt: null,
      usageClosesAt: null,
    })
  })
})

test('prints the planned actions and the progress when run by hand', async () => {
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, 100, '2026-02-10T00:00:00Z')
  const lines: string[] = []
  const run = (dryRun: boolean) =>
    runJobs(
      usageShop.runner.config(),
      { job: 'usage-billing', environment: 'sandbox', at: '2026-03-01T00:00:00Z', dryRun },
      {
        output: createOutput(
          () => 'text',
          (line) => lines.push(line),
        ),
        stopping: new AbortController().signal,
        parts: { ...usageShop.runner.parts, charge: usageShop.paying },
      },
    )
  await run(true)
  expect(lines.at(-1)).toContain(
    `${purchase.reference}: bill the usage from 2026-01-31T12:00:00.000Z until 2026-02-28T12:00:00.000Z`,
  )
  expect(await usageShop.invoicesOf(purchase)).toEqual([])
  await run(false)
  expect(lines.slice(-2)).toEqual([
    'sandbox usage-billing: 1 done so far',
    'sandbox usage-billing: 1 done',
  ])
})
