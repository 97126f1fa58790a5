import { activatePlan } from '@tollgate/domain/billing/activate-plan'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { creditInvoice } from '@tollgate/domain/invoices/credit-notes'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { endRefundedPurchase } from '@tollgate/domain/purposes/end-refunded'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { saveTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deliverPack, packUnitsOf } from './add-pack.ts'
import { closeAt, seller } from './close-at.ts'
import { hybrid, metered, ThresholdShop, usageOf } from './threshold-shop.ts'

/* How a period that was billed in part ends: the rest of it is billed once, whatever ends it. */

const shop = await ThresholdShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))
afterEach(async () => {
  expect(await listUnbalancedInvoices(shop.sql, 9)).toEqual([])
})

const noDetails = { businessName: null, customerName: null, taxId: null, taxIdType: null }
const swede = { ...noDetails, isBusiness: false, country: 'SE' }

/** Buys the plan, and uses 801 requests that are billed within the period, and then 101. */
async function usedBeyond(input: Partial<PlanCreateInput> = metered): Promise<Purchase> {
  const purchase = await shop.alerts.buy(input)
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_202n]])
  await shop.use(purchase, 101, '2026-03-10T00:00:00Z')
  await shop.measureAndBill('2026-03-10T00:01:00Z')
  return shop.now(purchase)
}

describe('the rest of a period', () => {
  test('is billed on the invoice of the next one by a plan that combines them', async () => {
    const purchase = await usedBeyond({ ...hybrid, billingStrategy: 'combined' })
    await shop.billPeriods('2026-04-01T11:00:00Z')
    const [, invoice] = await shop.invoicesOf(purchase)
    expect(invoice!.lines.map(({ inputs, amountMinor }) => [inputs.kind, amountMinor])).toEqual([
      ['recurring', 4_900n],
      ['late_usage', 151n],
    ])
    // The invoice counts as one for usage, so it stays owed if the purchase ends.
    const [row] = await shop.sql`
      select invoice_ref from billed_periods
      where purchase_ref = ${purchase.reference} and part = 'usage'`
    expect(row!['invoice_ref']).toBe(invoice!.reference)
  })

  test('has no line if nothing was used, and the next period is still charged on time', async () => {
    const purchase = await shop.alerts.buy({ ...hybrid, billingStrategy: 'combined' })
    await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
    await shop.measureAndBill('2026-03-05T00:01:00Z')
    await shop.billPeriods('2026-04-01T11:00:00Z')
    const [, invoice] = await shop.invoicesOf(purchase)
    expect(invoice!.lines.map(({ inputs }) => inputs.kind)).toEqual(['recurring'])
    expect(await shop.now(purchase)).toMatchObject({
      nextBillingDate: new Date('2026-05-01T10:00:00Z'),
      nextUsageBillAt: new Date('2026-05-01T10:00:00Z'),
    })
  })

  test('is billed up to the end of a purchase that was cancelled within it', async () => {
    const purchase = await usedBeyond()
    await shop.runner.within(shop.shop, async (work) => {
      const locked = await lockPurchase(work.sql, work.providerId, purchase.reference)
      await endNow(work, locked!, 'expired')
    })
    await shop.billPeriods('2026-03-10T03:00:00Z')
    expect(await shop.amountsOf(purchase)).toEqual([[1_202n], [151n]])
    const [, rest] = await shop.invoicesOf(purchase)
    expect(rest!.lines[0]!.period!.end).toEqual(new Date('2026-03-10T00:01:00Z'))
    expect(await shop.now(purchase)).toMatchObject({ nextUsageBillAt: null })
    expect(await shop.reconcile('2026-03-11T00:00:00Z')).toEqual({ compared: 2, findings: [] })
  })

  test('is billed up to a known end date, by bills within the period too', async () => {
    const purchase = await shop.alerts.buy(metered)
    await shop.sql`
      update purchases set end_date = ${'2026-03-05T12:00:00Z'}, auto_renew = false
      where reference = ${purchase.reference}`
    await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
    await shop.measureAndBill('2026-03-05T00:01:00Z')
    await shop.use(purchase, 801, '2026-03-05T11:59:00Z')
    await shop.measure('2026-03-05T11:59:30Z')
    await shop.billThresholds('2026-03-05T12:00:00Z')
    expect(await shop.amountsOf(purchase)).toEqual([[1_202n]])
    await shop.runner.runJob('ended-purchases', '2026-03-05T12:00:00Z')
    await shop.billPeriods('2026-03-05T13:00:00Z')
    expect(await shop.amountsOf(purchase)).toEqual([[1_202n], [1_201n]])
  })

  test('stays with the purchase before a change of plan, and the plan after it has its own', async () => {
    const before = await usedBeyond()
    shop.runner.clock.set('2026-03-12T00:00:00Z')
    const plan = await shop.runner.addPlan(shop.shop, { ...metered, creditsPerUnit: 200 })
    const { providerId, product } = shop.shop
    const outcome = await shop.runner.within(shop.shop, async (work) => {
      const customer = (await findCustomer(work.sql, providerId, before.customerRef))!
      const names = { productRef: product.reference, planRef: plan.reference }
      return activatePlan(work, { customer, ...names, cycleMode: 'calendar', seller })
    })
    if (outcome.kind !== 'activated') throw new Error(outcome.kind)
    await shop.use(before, 601, '2026-03-13T00:00:00Z')
    await shop.measureAndBill('2026-03-13T00:01:00Z')
    // The purchase before is billed to its end first.
    expect(await shop.amountsOf(outcome.purchase)).toEqual([])
    await shop.billPeriods('2026-03-13T03:00:00Z')
    await shop.billThresholds('2026-03-13T03:01:00Z')
    expect(await shop.amountsOf(before)).toEqual([[1_202n], [151n]])
    expect(await shop.amountsOf(outcome.purchase)).toEqual([[1_202n]])
    expect(await shop.reconcile('2026-03-14T00:00:00Z')).toEqual({ compared: 3, findings: [] })
  })

  test('is not billed again after the invoice of a part was credited', async () => {
    const purchase = await usedBeyond()
    await shop.runner.within(shop.shop, async (work) => {
      const [invoice] = await shop.invoicesOf(purchase)
      const lines = [{ line: 0, amountMinor: 1_202n }]
      const credit = { lines, reason: 'goodwill', settles: 'balance' } as const
      expect(await creditInvoice(work, invoice!, credit)).toMatchObject({ kind: 'credited' })
    })
    await shop.billPeriods('2026-04-01T11:00:00Z')
    expect(await shop.billedMinor(purchase)).toBe(1_353n)
  })
})

describe('a change of plan that is undone', () => {
  test.each([
    // The restored purchase bills all usage, and the bill of the new one is credited.
    ['was billed within the period', 700, true, 1_202n + 151n + 1_050n, 1_050n, 1_050n],
    ['was billed and has not paid', 700, false, 1_202n + 151n + 1_050n, 1_050n, 1_050n],
    ['was not billed', 10, true, 1_202n + 241n, 0n, 0n],
  ])(
    'bills each unit once if the new purchase %s',
    async (_, units, pays, ofFirst, ofChanged, credited) => {
      const purchase = await usedBeyond(hybrid)
      const changed = await shop.change(purchase, '2026-03-12T00:00:00Z')
      await shop.billPeriods('2026-03-12T11:00:00Z')
      await shop.use(purchase, units, '2026-03-13T00:00:00Z')
      const card = pays ? shop.paying : shop.withDecliningCard
      await shop.measureAndBill('2026-03-13T00:01:00Z', card)
      shop.runner.clock.set('2026-03-15T00:00:00Z')
      await shop.runner.within(shop.shop, (work) => endRefundedPurchase(work, changed.reference))
      if (units === 10) await shop.use(purchase, 50, '2026-03-20T00:00:00Z')
      for (const at of ['2026-04-01T11:00:00Z', '2026-05-01T11:00:00Z']) {
        await shop.runner.runJob('renewals', at, shop.paying)
        await shop.billPeriods(at)
      }
      expect([await shop.billedMinor(purchase), await shop.billedMinor(changed)]).toEqual([
        ofFirst,
        ofChanged,
      ])
      const [row] = await shop.sql`
      select coalesce(sum(total), 0)::text as total from credit_notes
      where provider_id = ${shop.shop.providerId}`
      expect(row!['total']).toBe(String(credited))
      const owed = await shop.sql`
        select reference from invoices
        where provider_id = ${shop.shop.providerId} and status = 'open'`
      expect(owed).toEqual([])
      expect(await shop.reconcile('2026-05-02T00:00:00Z')).toMatchObject({ findings: [] })
    },
  )
})

describe('a customer who is deleted', () => {
  test('is billed for the rest of the period at once', async () => {
    const purchase = await usedBeyond()
    const asked = await closeAt(shop, purchase, undefined)
    expect(asked).toMatchObject({ open: { amounts: [{ unbilledUsageMinor: 151n }] } })
    const outcome = await closeAt(shop, purchase, 'bill_now')
    expect(outcome).toMatchObject({ uncharged: [{ amountMinor: 151n, reason: 'no_card' }] })
    expect(await shop.amountsOf(purchase)).toEqual([[1_202n], [151n]])
    // The customer stays because nothing was paid, and the period is billed.
    await shop.use(purchase, 800, '2026-03-11T00:00:00Z')
    await shop.measureAndBill('2026-03-11T00:01:00Z')
    await shop.runner.runJob('payment-retries', '2026-03-11T00:02:00Z', shop.paying)
    await shop.measureAndBill('2026-03-11T00:03:00Z')
    await shop.billPeriods('2026-05-01T11:00:00Z')
    expect(await shop.billedMinor(purchase)).toBe(2_553n)
    expect(await shop.reconcile('2026-05-02T00:00:00Z')).toMatchObject({ findings: [] })
  })

  test('owes nothing for the rest of the period if it is written off', async () => {
    const purchase = await usedBeyond()
    expect(await closeAt(shop, purchase, 'write_off')).toEqual({ kind: 'deleted' })
    await shop.measureAndBill('2026-03-11T00:01:00Z')
    await shop.billPeriods('2026-05-01T11:00:00Z')
    expect(await shop.amountsOf(purchase)).toEqual([[1_202n]])
    const [row] = await shop.sql<{ sum: string }[]>`
      select sum(amount)::text from ledger_entries
      where customer_ref = ${purchase.customerRef} and account = 'written_off'`
    expect(row!.sum).toBe('151')
    expect(await shop.crossings()).toBe(0)
  })

  test('is measured again if a bill within the period was made in the meantime', async () => {
    const purchase = await usedBeyond()
    await shop.use(purchase, 700, '2026-03-11T00:00:00Z')
    await shop.measure('2026-03-11T00:01:00Z')
    const closing = closeAt(shop, purchase, 'write_off')
    await Promise.all([closing, shop.billThresholds('2026-03-11T00:01:00Z')])
    expect(await closing).toEqual({ kind: 'deleted' })
    const billed = await shop.billedMinor(purchase)
    const [row] = await shop.sql<{ sum: string }[]>`
      select coalesce(sum(amount), 0)::text as sum from ledger_entries
      where customer_ref = ${purchase.customerRef} and account = 'written_off'`
    expect(billed + BigInt(row!.sum)).toBe(2_403n)
  })
})

test('packs pay for the usage before a bill, and each unit once', async () => {
  const purchase = await shop.alerts.buy(metered)
  await deliverPack(shop, purchase, { units: 300 })
  await shop.use(purchase, 966, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([])
  await shop.use(purchase, 101, '2026-03-06T00:00:00Z')
  await shop.measureAndBill('2026-03-06T00:01:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_151n]])
  // A pack that is bought later pays for the usage of the whole period, as without bills within it.
  await deliverPack(shop, purchase, { units: 50 })
  await shop.use(purchase, 10, '2026-03-20T00:00:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  expect(await shop.billedMinor(purchase)).toBe(1_091n)
  expect(await packUnitsOf(shop, purchase)).toEqual([
    { used: 300, taken: 0 },
    { used: 50, taken: 0 },
  ])
})

/** 200 of 500 units in March. 1,601 units in April, of which 800 are included, are billed within the period. */
async function usedBeyondCarriedUnits(): Promise<Purchase> {
  const rolling = { ...metered, type: 'hybrid', billingModel: undefined, limit: 500 } as const
  const overage = { overagePolicy: { allowOverage: true }, rolloverUnusedUnits: true } as const
  const purchase = await shop.alerts.buy({ ...rolling, ...overage })
  await shop.use(purchase, 200, '2026-03-05T00:00:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  await shop.use(purchase, 1_601, '2026-04-05T00:00:00Z')
  await shop.measureAndBill('2026-04-05T00:01:00Z')
  return purchase
}

test('units that are carried over and arrive late count as without bills within the period', async () => {
  const purchase = await usedBeyondCarriedUnits()
  shop.runner.clock.set('2026-04-10T00:00:00Z')
  // 300 units were carried over. 100 of them were used already, as is found now.
  await shop.alerts.use(purchase.customerRef, 100, { at: '2026-03-06T00:00:00Z' })
  await shop.measureAndBill('2026-04-10T00:01:00Z')
  await shop.billPeriods('2026-05-01T11:00:00Z')
  const lines = (await shop.invoicesOf(purchase)).flatMap((invoice) => usageOf(invoice.lines))
  expect(lines.map(({ amountMinor }) => amountMinor)).toEqual([1_202n, 0n, 150n])
  expect(lines[2]!.inputs).toMatchObject({ carriedOverUnits: '300', lateCarriedOverUnits: '-100' })
})

test('a pack pays for units that are no longer carried over into a period billed in part', async () => {
  const purchase = await usedBeyondCarriedUnits()
  await deliverPack(shop, purchase, { units: 1_000 })
  shop.runner.clock.set('2026-04-10T00:00:00Z')
  await shop.alerts.use(purchase.customerRef, 100, { at: '2026-03-06T00:00:00Z' })
  await shop.measureAndBill('2026-04-10T00:01:00Z')
  await shop.billPeriods('2026-05-01T11:00:00Z')
  expect(await packUnitsOf(shop, purchase)).toEqual([{ used: 901, taken: 0 }])
  expect(await shop.billedMinor(purchase)).toBe(0n)
})

test('the invoices of a taxed period add up to its price, each with its own tax', async () => {
  await shop.runner.within(shop.shop, ({ sql, providerId, now }) =>
    changeMerchant(sql, providerId, { country: 'SE', vatNumber: 'SE556012579001' }, now),
  )
  const purchase = await shop.alerts.buy(metered)
  await shop.runner.within(shop.shop, ({ sql, providerId, now }) =>
    saveTaxDetails(sql, providerId, purchase.customerRef, swede, now),
  )
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  await shop.use(purchase, 101, '2026-03-10T00:00:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_202n], [151n]])
  const invoices = await shop.invoicesOf(purchase)
  expect(invoices.map(({ totalMinor }) => totalMinor)).toEqual([1_202n + 301n, 151n + 38n])
})
