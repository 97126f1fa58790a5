import { setExchangeRate } from '@tollgate/domain/money/exchange-rates'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { oracleChargePrice } from '../../../domain/test/charge-oracle.ts'
import { tiers, tokens } from './studio-charges.ts'
import { ThresholdShop, usageOf } from './threshold-shop.ts'

/* Plans that bill a running period whenever its unbilled usage reaches an amount. */

const shop = await ThresholdShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

/** A request costs half a cent. */
const halfCents: Partial<PlanCreateInput> = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  creditsPerUnit: 50,
  billAtUnbilledMinor: 1_000,
}

const studio: Partial<PlanCreateInput> = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  charges: [
    tokens,
    { key: 'calls', meter: 'requests', model: 'per_unit', price: '0.5', per: 'period' },
  ],
  billAtUnbilledMinor: 250,
}

const tokensCost = (used: number): bigint =>
  oracleChargePrice(
    { model: 'graduated', tiers, included: '100' },
    { used: String(used), carriedOver: '0', before: '0' },
  ).nearest()

test('bills a part of the period at the amount, and the rest at its end, to the price of the period', async () => {
  const purchase = await shop.alerts.buy(halfCents)
  await shop.use(purchase, 1_997, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  expect(await shop.crossings()).toBe(0)
  expect(await shop.invoicesOf(purchase)).toEqual([])

  await shop.use(purchase, 4, '2026-03-06T00:00:00Z')
  await shop.measureAndBill('2026-03-06T00:01:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_001n]])
  // Half a cent was rounded up, and the next bill charges it less.
  await shop.use(purchase, 2_001, '2026-03-10T00:00:00Z')
  await shop.measureAndBill('2026-03-10T00:01:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_001n], [1_000n]])
  await shop.use(purchase, 3, '2026-03-20T00:00:00Z')
  await shop.measureAndBill('2026-03-20T00:01:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[1_001n], [1_000n], [2n]])
  expect(await shop.billedMinor(purchase)).toBe(2_003n)

  const invoices = await shop.invoicesOf(purchase)
  expect(invoices.map(({ lines }) => lines.map(({ description }) => description))).toEqual([
    ['Plan, usage, until 2026-03-06 00:01 UTC'],
    ['Plan, usage, from 2026-03-06 00:01 until 2026-03-10 00:01 UTC'],
    ['Plan, usage, from 2026-03-10 00:01 UTC'],
  ])
  expect(invoices.map(({ status }) => status)).toEqual(['paid', 'paid', 'paid'])
  const charged = await shop.runner.events(shop.shop, /^usage\.charged$/)
  expect(charged.map(({ object }) => [object['quantity'], object['amount']])).toEqual([
    [2_001, 1_001],
    [2_001, 1_000],
    [3, 2],
  ])
  expect(await shop.reconcile('2026-04-01T12:00:00Z')).toEqual({ compared: 3, findings: [] })
  // The next period begins without anything billed.
  await shop.use(purchase, 5, '2026-04-05T00:00:00Z')
  await shop.billPeriods('2026-05-01T11:00:00Z')
  expect((await shop.amountsOf(purchase)).at(-1)).toEqual([3n])
})

test('bills each charge to the price of the period, whatever part of it each bill has', async () => {
  const purchase = await shop.alerts.buy(studio)
  for (const [day, used] of [
    [2, 900.5],
    [3, 600],
    [9, 500_000.25],
    [12, 1_000_000],
  ] as const) {
    const at = `2026-03-${String(day).padStart(2, '0')}T00:00:0`
    await shop.use(purchase, used, `${at}0Z`, 'tokens')
    await shop.use(purchase, 7, `${at}1Z`)
    await shop.measureAndBill(`${at}9Z`)
  }
  await shop.billPeriods('2026-04-01T11:00:00Z')
  const amounts = await shop.amountsOf(purchase)
  expect(amounts.length).toBeGreaterThan(2)
  expect(await shop.billedMinor(purchase)).toBe(tokensCost(1_501_500.75) + 14n)
  expect(await shop.reconcile('2026-04-01T12:00:00Z')).toMatchObject({ findings: [] })
})

describe('one crossing', () => {
  test('makes one invoice, however often and by how many runners it is billed', async () => {
    const purchase = await shop.alerts.buy(halfCents)
    await shop.use(purchase, 2_500, '2026-03-05T00:00:00Z')
    await shop.measure('2026-03-05T00:01:00Z')
    await Promise.all([
      shop.billThresholds('2026-03-05T00:02:00Z'),
      shop.billThresholds('2026-03-05T00:02:00Z'),
    ])
    await shop.billThresholds('2026-03-05T00:03:00Z')
    await shop.measureAndBill('2026-03-05T00:04:00Z')
    expect(await shop.amountsOf(purchase)).toEqual([[1_250n]])
    expect(shop.asked).toHaveLength(1)
    expect(await shop.crossings()).toBe(0)
  })

  test('makes no invoice if less than the amount is unbilled by then', async () => {
    const purchase = await shop.alerts.buy(halfCents)
    await shop.use(purchase, 1_000, '2026-03-05T00:00:00Z')
    const { providerId } = shop.shop
    await shop.sql`
      insert into threshold_crossings (provider_id, purchase_ref, noted_at)
      values (${providerId}, ${purchase.reference}, now())`
    await shop.billThresholds('2026-03-05T00:02:00Z')
    expect(await shop.invoicesOf(purchase)).toEqual([])
    expect(await shop.crossings()).toBe(0)
    expect((await shop.now(purchase)).usageBilledTo).toBeUndefined()
  })
})

describe('an open invoice', () => {
  test('is the only one for a customer whose card is declined, and the rest follows once it is paid', async () => {
    const purchase = await shop.alerts.buy(halfCents)
    await shop.use(purchase, 2_500, '2026-03-05T00:00:00Z')
    await shop.measureAndBill('2026-03-05T00:01:00Z', shop.withDecliningCard)
    await shop.use(purchase, 2_500, '2026-03-05T02:00:00Z')
    await shop.measureAndBill('2026-03-05T02:01:00Z', shop.withDecliningCard)
    expect(await shop.amountsOf(purchase)).toEqual([[1_250n]])
    expect(shop.asked).toHaveLength(1)
    expect(await shop.now(purchase)).toMatchObject({ status: 'past_due' })
    await shop.runner.runJob('payment-retries', '2026-03-20T00:00:00Z', shop.paying)
    expect(await shop.now(purchase)).toMatchObject({ status: 'active' })
    await shop.billThresholds('2026-03-20T00:01:00Z')
    expect(await shop.amountsOf(purchase)).toEqual([[1_250n], [1_250n]])
  })

  test('leaves the rest to the end of the period', async () => {
    const purchase = await shop.alerts.buy(halfCents)
    await shop.use(purchase, 2_500, '2026-03-28T00:00:00Z')
    await shop.measureAndBill('2026-03-28T00:01:00Z', shop.withDecliningCard)
    await shop.use(purchase, 2_501, '2026-03-28T02:00:00Z')
    await shop.measureAndBill('2026-03-28T02:01:00Z', shop.withDecliningCard)
    await shop.billPeriods('2026-04-01T11:00:00Z', shop.withDecliningCard)
    expect(await shop.amountsOf(purchase)).toEqual([[1_250n], [1_251n]])
  })
})

test('compares a purchase in another currency with the amount in that currency', async () => {
  const pricingOptions = [
    { currency: 'USD', price: 0, default: true },
    { currency: 'EUR', price: 0 },
  ]
  const priced = { ...halfCents, creditsPerUnit: 100, pricingOptions }
  const plan = await shop.runner.addPlan(shop.shop, priced)
  const purchase = await shop.runner.buy(shop.shop, plan, { currency: 'EUR' })
  await shop.alerts.publish(purchase.customerRef)
  await shop.use(purchase, 999, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([])
  await shop.use(purchase, 1, '2026-03-05T01:00:00Z')
  await shop.measureAndBill('2026-03-05T01:01:00Z')
  // 10 dollars are 9.20 euros, and every bill of the period has that rate.
  expect(await shop.amountsOf(purchase)).toEqual([[920n]])
  await shop.runner.within(shop.shop, ({ sql, providerId, now }) =>
    setExchangeRate(sql, providerId, { currency: 'EUR', unitsPerDollar: '0.5' }, now),
  )
  await shop.use(purchase, 100, '2026-03-06T00:00:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  expect(await shop.amountsOf(purchase)).toEqual([[920n], [92n]])
})

test('late usage after the last bill of the period is billed to the price of the period', async () => {
  const purchase = await shop.alerts.buy(halfCents)
  await shop.use(purchase, 2_001, '2026-03-05T00:00:00Z')
  await shop.measureAndBill('2026-03-05T00:01:00Z')
  await shop.billPeriods('2026-04-01T11:00:00Z')
  for (const [at, day] of [
    ['2026-04-05T00:00:00Z', 7],
    ['2026-04-06T00:00:00Z', 8],
  ] as const) {
    shop.runner.clock.set(at)
    const late = { at: `2026-03-0${day}T00:00:00Z` }
    await shop.alerts.use(purchase.customerRef, 100.5, late)
    await shop.use(purchase, 2_000, at)
    await shop.measureAndBill(at)
  }
  const invoices = await shop.invoicesOf(purchase)
  const march = invoices.flatMap(({ lines }) =>
    usageOf(lines).filter(({ period }) => period!.start < new Date('2026-04-01T00:00:00Z')),
  )
  expect(march.map(({ amountMinor }) => amountMinor)).toEqual([1_001n, 50n, 50n])
  expect(march[1]!.description).toBe('Plan, usage recorded late')
  expect(await shop.reconcile('2026-04-07T00:00:00Z')).toMatchObject({ findings: [] })
})
