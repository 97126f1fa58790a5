import { verifyLedgerCommand } from '@tollgate/control-plane/cli/ledger-commands'
import { billSwitch } from '@tollgate/domain/billing/bill-switch'
import { insertIntent } from '@tollgate/domain/payments/intents-repository'
import { applyPaymentState } from '@tollgate/domain/settlement/apply-payment-state'
import { applyRefund } from '@tollgate/domain/settlement/apply-refund'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import { invoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { removeExchangeRate, setExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { endRefundedPurchase } from '@tollgate/domain/purposes/end-refunded'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestIntent } from '../../../domain/test/test-intent.ts'
import { hybrid, metered, ThresholdShop } from './threshold-shop.ts'

/* Periods billed in part, around changes of their purchase: nothing that was used is lost, and nothing unpaid stays owed by mistake. */

const shop = await ThresholdShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

test('late usage after an end date that was withdrawn is billed', async () => {
  const purchase = await shop.alerts.buy(metered)
  await shop.sql`
    update purchases set end_date = ${'2026-03-10T00:00:00Z'}, auto_renew = false
    where reference = ${purchase.reference}`
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  await shop.sql`
    update purchases set end_date = null, auto_renew = true
    where reference = ${purchase.reference}`
  await shop.billPeriods('2026-04-01T11:00:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_202n]])
  shop.runner.clock.set('2026-04-02T00:00:00Z')
  await shop.alerts.use(purchase.customerRef, 101, { at: '2026-03-20T00:00:00Z' })
  await shop.billPeriods('2026-05-01T11:00:00Z')
  expect(await shop.billedMinor(purchase)).toBe(1_353n)
})

test('an invoice of the next price alone becomes void with the purchase', async () => {
  const purchase = await shop.alerts.buy({ ...hybrid, billingStrategy: 'combined' })
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z', shop.withDecliningCard)
  await shop.runner.within(shop.shop, async (work) => {
    const locked = await lockPurchase(work.sql, work.providerId, purchase.reference)
    await endNow(work, locked!, 'cancelled')
  })
  const invoices = await shop.invoicesOf(purchase)
  expect(invoices.map(({ status }) => status)).toEqual(['paid', 'void'])
})

test('a currency without a rate stops no check of the customer', async () => {
  const iceland = { currency: 'ISK', unitsPerDollar: '120' }
  const rate = (change: 'set' | 'remove') =>
    shop.runner.within(shop.shop, ({ sql, providerId, now }) =>
      change === 'set'
        ? setExchangeRate(sql, providerId, iceland, now)
        : removeExchangeRate(sql, providerId, 'ISK'),
    )
  await rate('set')
  const pricingOptions = [
    { currency: 'USD', price: 0, default: true },
    { currency: 'ISK', price: 0 },
  ]
  const plan = await shop.runner.addPlan(shop.shop, { ...metered, pricingOptions })
  const purchase = await shop.runner.buy(shop.shop, plan, { currency: 'ISK' })
  await shop.alerts.publish(purchase.customerRef)
  await rate('remove')
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  await shop.measure('2026-03-05T00:01:00Z')
  const left = await shop.sql`
    select failures from alert_checks where provider_id = ${shop.shop.providerId}`
  expect(left).toEqual([])
})

/** Renews and bills what is due at the ends of March and April, and then runs `last` each time. */
async function billUntilMay(last?: (at: string) => Promise<unknown>): Promise<void> {
  for (const at of ['2026-04-01T11:00:00Z', '2026-05-01T11:00:00Z']) {
    await shop.runner.runJob('renewals', at, shop.paying)
    await shop.billPeriods(at)
    await last?.(at)
  }
}

test('the usage before a change is billed if the change is undone before that', async () => {
  const purchase = await shop.alerts.buy(hybrid)
  await shop.use(purchase, 301, '2026-03-10T00:00:00Z')
  const changed = await shop.change(purchase, '2026-03-12T00:00:00Z')
  await shop.use(purchase, 700, '2026-03-13T00:00:00Z')
  await shop.measureAndBill('2026-03-13T00:01:00Z')
  shop.runner.clock.set('2026-03-13T03:00:00Z')
  await shop.runner.within(shop.shop, (work) => endRefundedPurchase(work, changed.reference))
  await billUntilMay((at) => shop.billThresholds(at))
  const billed = (await shop.billedMinor(purchase)) + (await shop.billedMinor(changed))
  expect(billed).toBe(1_502n)
})

/** 301 units of a plan and 700 of the next one, each billed. */
async function usedOnTwoPlans(): Promise<{ purchase: Purchase; changed: Purchase }> {
  const purchase = await shop.alerts.buy(hybrid)
  await shop.use(purchase, 301, '2026-03-10T00:00:00Z')
  const changed = await shop.change(purchase, '2026-03-12T00:00:00Z')
  await shop.billPeriods('2026-03-12T11:00:00Z')
  await shop.use(purchase, 700, '2026-03-13T00:00:00Z')
  await shop.measureAndBill('2026-03-13T00:01:00Z')
  return { purchase, changed }
}

async function creditedMinor(settles = ['invoice', 'balance', 'refund']): Promise<string> {
  const [row] = await shop.sql<{ total: string }[]>`
    select coalesce(sum(total), 0)::text as total from credit_notes
    where provider_id = ${shop.shop.providerId} and settles = any(${settles})`
  return row!.total
}

async function carriedAmounts(): Promise<unknown> {
  return shop.sql`
    select amount from carried_amounts where provider_id = ${shop.shop.providerId} and amount <> 0`
}

test('usage after an undone change is billed, and bills of the undone plan are credited', async () => {
  const { purchase, changed } = await usedOnTwoPlans()
  shop.runner.clock.set('2026-03-13T03:00:00Z')
  await shop.runner.within(shop.shop, (work) => endRefundedPurchase(work, changed.reference))
  await shop.use(purchase, 5_000, '2026-03-14T00:00:00Z')
  await shop.measureAndBill('2026-03-14T00:01:00Z')
  await billUntilMay((at) => shop.billThresholds(at))
  // 6,001 requests are billed by the restored purchase, and the 700 of the undone one are credited.
  const [restored, undone] = [await shop.billedMinor(purchase), await shop.billedMinor(changed)]
  expect([restored, undone]).toEqual([9_002n, 1_050n])
  expect(await creditedMinor()).toBe('1050')
  expect(await carriedAmounts()).toEqual([])
  expect(await listUnbalancedInvoices(shop.sql, 9)).toEqual([])
  expect(await shop.reconcile('2026-05-02T00:00:00Z')).toMatchObject({ findings: [] })
})

test('usage of two undone changes is billed once, by the restored purchase', async () => {
  const { purchase, changed: second } = await usedOnTwoPlans()
  const third = await shop.change(second, '2026-03-14T00:00:00Z')
  await shop.billPeriods('2026-03-14T11:00:00Z')
  await shop.use(purchase, 700, '2026-03-15T00:00:00Z')
  await shop.measureAndBill('2026-03-15T00:01:00Z')
  shop.runner.clock.set('2026-03-16T00:00:00Z')
  await shop.runner.within(shop.shop, (work) => endRefundedPurchase(work, second.reference))
  await billUntilMay()
  const billed = await Promise.all([purchase, second, third].map((each) => shop.billedMinor(each)))
  expect(billed).toEqual([2_552n, 1_050n, 1_050n])
  expect(await creditedMinor()).toBe('2100')
  expect(await shop.reconcile('2026-05-02T00:00:00Z')).toMatchObject({ findings: [] })
})

test('a credit for an undone change is taken back from the unpaid bill that took it over', async () => {
  const purchase = await shop.alerts.buy(hybrid)
  const paid = await shop.change(purchase, '2026-03-12T00:00:00Z')
  const cheaper = await shop.change(paid, '2026-03-12T01:00:00Z')
  await shop.runner.within(shop.shop, (work) => {
    const amounts = { oldMinor: '1000', newMinor: '500', secondsLeft: 1, secondsInPeriod: 1 }
    const inputs = { kind: 'proration', policy: 'proportional', ...amounts } as const
    const lines = [invoiceLine(inputs, 'Change of plan', null)]
    const credit = { lines, currency: 'USD' } as unknown as PlanSwitch
    return billSwitch(work, cheaper, credit, { name: 'Acme' })
  })
  await shop.billPeriods('2026-03-12T11:00:00Z')
  await shop.use(purchase, 1_000, '2026-03-13T00:00:00Z')
  await shop.measureAndBill('2026-03-13T00:01:00Z', shop.withDecliningCard)
  expect((await shop.invoicesOf(cheaper)).map(({ totalMinor }) => totalMinor)).toEqual([
    -500n,
    1_000n,
  ])
  shop.runner.clock.set('2026-03-13T03:00:00Z')
  await shop.runner.within(shop.shop, (work) => endRefundedPurchase(work, paid.reference))
  expect((await shop.now(purchase)).status).toBe('active')
  expect(await carriedAmounts()).toEqual([])
  const owed = await shop.sql`
    select reference from invoices where provider_id = ${shop.shop.providerId} and status = 'open'`
  expect(owed).toEqual([])
})

/** Pays the open invoice of the purchase by a payment whose refund has the returned function. */
async function payByIntent(purchase: Purchase, amountMinor: bigint) {
  const [invoice] = await shop.invoicesOf(purchase)
  const { customerRef, productRef, planRef, planSnapshot, reference: purchaseRef } = purchase
  const now = new Date(shop.runner.clock.now())
  const of = { purchaseRef, invoiceRef: invoice!.reference, customerRef, productRef }
  const amounts = { amountMinor, originalAmountMinor: amountMinor, currency: 'USD' }
  const plan = { planRef, planSnapshot, exchangeRate: '1' }
  const intent = createTestIntent(
    { reference: `pay_${purchaseRef}`, purpose: 'usage_billing', ...of, ...plan, ...amounts },
    now,
  )
  const { reference } = intent
  const chargeId = `ch_${reference}`
  const unknown = { reason: undefined, pendingReason: undefined, failureReason: undefined }
  const common = { amountMinor, currency: 'USD', settlement: undefined, createdAt: now }
  const payment = {
    ...common,
    kind: 'payment_intent',
    id: `pi_${reference}`,
    status: 'succeeded',
    metadata: {},
    receivedMinor: amountMinor,
    chargeId,
    clientSecret: undefined,
    customerId: undefined,
    paymentMethodId: undefined,
    nextAction: undefined,
    lastDecline: undefined,
  } as const
  await shop.runner.within(shop.shop, async (work) => {
    await insertIntent(work.sql, work.providerId, intent)
    const paid = { payment, card: undefined, isCardSaved: false }
    await applyPaymentState(work, reference, paid, 'https://shop.example')
  })
  return async (status: 'pending' | 'succeeded', refundedMinor = amountMinor) => {
    const refund = {
      ...common,
      ...unknown,
      amountMinor: refundedMinor,
      kind: 'refund',
      metadata: {},
    } as const
    const of = { chargeId, paymentIntentId: payment.id, failureSettlement: undefined }
    await shop.runner.within(shop.shop, (work) =>
      applyRefund(work, reference, { ...refund, ...of, id: `re_${reference}`, status }),
    )
  }
}

async function verifyLedger(): Promise<void> {
  const shown: unknown[] = []
  const { database } = shop.runner
  const output = { show: (report: unknown) => void shown.push(report) }
  await verifyLedgerCommand({ database, output } as unknown as Parameters<
    typeof verifyLedgerCommand
  >[0])
  expect(shown).toMatchObject([{ json: { isWhole: true, differences: [] } }])
}

test('a bill within the period that the processor refunds is not billed again', async () => {
  const purchase = await shop.alerts.buy(metered)
  await shop.use(purchase, 801, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z', shop.withDecliningCard)
  const refund = await payByIntent(purchase, 1_202n)
  expect(await shop.now(purchase)).toMatchObject({ status: 'active' })
  for (const status of ['pending', 'succeeded', 'succeeded'] as const) await refund(status)
  await shop.use(purchase, 101, '2026-03-06T00:00:00Z')
  await shop.measureAndBill('2026-03-06T00:01:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_202n], [151n]])
  const invoices = await shop.invoicesOf(purchase)
  expect(invoices.map(({ status }) => status)).toEqual(['refunded', 'paid'])
  expect(await shop.now(purchase)).toMatchObject({ status: 'active' })
  await verifyLedger()
})

test.each([
  ['what is being refunded', 1_050n, 0n],
  ['more than what is not being refunded', 50n, 1_000n],
])('an undone change does not credit %s', async (_, refunded, credited) => {
  const purchase = await shop.alerts.buy(hybrid)
  const changed = await shop.change(purchase, '2026-03-12T00:00:00Z')
  await shop.billPeriods('2026-03-12T11:00:00Z')
  await shop.use(purchase, 700, '2026-03-13T00:00:00Z')
  await shop.measureAndBill('2026-03-13T00:01:00Z', shop.withDecliningCard)
  const refund = await payByIntent(changed, 1_050n)
  await refund('pending', refunded)
  shop.runner.clock.set('2026-03-13T03:00:00Z')
  await shop.runner.within(shop.shop, (work) => endRefundedPurchase(work, changed.reference))
  await refund('succeeded', refunded)
  await shop.use(purchase, 100, '2026-03-14T00:00:00Z')
  await billUntilMay()
  // The restored purchase bills all usage of the period.
  expect(await shop.billedMinor(purchase)).toBe(1_200n)
  expect(await creditedMinor()).toBe('1050')
  expect(await creditedMinor(['balance'])).toBe(String(credited))
  await verifyLedger()
})
