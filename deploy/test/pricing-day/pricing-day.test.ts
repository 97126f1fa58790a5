import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlanMigrationBody } from '@tollgate/schemas/http/plan-migrations'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { ClockRunner } from '../test-clocks/clock-runner.ts'
import { ClockStack } from '../test-clocks/clock-stack.ts'
import { clockYear } from '../test-clocks/clock-year.ts'
import { requestsOfPro, tokensOfScale } from './oracle.ts'
import { PortalVisitor } from './portal-visitor.ts'

/*
 * A pricing team tries three plans over 14 months of a test clock, by HTTP alone: a card fails, a payment is disputed, a price
 * changes, usage is corrected. Each invoice equals the price list.
 */

let clocks: ClockStack
beforeAll(async () => {
  // Every second instead of every minute.
  const settings = { TOLLGATE_SCHEDULE_PLAN_MIGRATIONS: '* * * * * *' }
  clocks = await ClockStack.start({ settings })
}, 120_000)
afterAll(() => clocks.stop())

/** Units used in the first month and those after it: above and below the included units, and in each tier. */
const requests = [
  900, 1_000, 4_321, 1_001, 10_000, 0, 10_007, 25_000, 1_234, 17, 9_999, 12_500, 2_000, 0,
]
const tokens = [
  500_000, 999_999, 1_000_000, 1_000_001, 5_000_000, 0, 323_456, 777_777, 2_500_000, 250_000, 0,
  1_999_999, 640_000, 0,
]
const lastMonth = requests.length
const months = requests.map((_, month) => month)

/** Month 0 is the first one. The jobs of a month's first day have run at noon. */
function dayOf(month: number, day: string, time = '12:00:00.000'): string {
  const year = clockYear + Math.floor(month / 12)
  return `${year}-${String((month % 12) + 1).padStart(2, '0')}-${day}T${time}Z`
}
const renewedAt = (month: number): string => dayOf(month, '01', '10:00:00.000')
const usageBilledAt = (month: number): string => dayOf(month, '01', '11:00:00.000')
const startsAt = dayOf(0, '01', '00:00:00.000')

async function paidInvoices(customerRef: string): Promise<readonly string[]> {
  const invoices = await clocks.invoicesOf(customerRef)
  return invoices.map(({ createdAt, total, status }) => `${createdAt} ${total} ${status}`)
}

async function enterCard(customerRef: string, card: string): Promise<void> {
  const visitor = await PortalVisitor.open(clocks, customerRef)
  await visitor.enterCard(card)
}

async function statusOf(customerRef: string): Promise<PurchaseBody['status']> {
  const [newest] = await clocks.purchasesOf(customerRef)
  return newest!.status
}

/** The bank decides for its cardholder on the newest dispute. */
async function loseDispute(): Promise<void> {
  const answer = await clocks.stripe('disputes')
  const { data } = (await answer.json()) as { data: readonly { id: string }[] }
  await clocks.simulator.admin(`disputes/${data[0]!.id}/close`, { ending: 'lost' })
}

/** Raises the price of Pro, for its holders with their next renewal. */
async function raisePrice(productRef: string, planRef: string): Promise<void> {
  const path = `/v1/sdk/products/${productRef}/plans/${planRef}`
  await clocks.client.require('PUT', path, { price: 5_900 })
  const { reference } = await clocks.post<PlanMigrationBody>(`${path}/migrations`, {
    when: 'renewal',
  })
  await expect
    .poll(() => clocks.get(`${path}/migrations/${reference}`), { timeout: 60_000 })
    .toMatchObject({ status: 'done', progress: { scheduled: 1 } })
}

/** Sets recorded usage to another value. */
async function correct(record: object, value: number): Promise<void> {
  const path = '/v1/sdk/usage-corrections'
  const body = { record, action: 'set', value, reason: 'Counted too often' }
  const { reference } = await clocks.post<{ reference: string }>(path, body)
  await expect
    .poll(() => clocks.get(`${path}/${reference}`), { timeout: 60_000 })
    .toMatchObject({ status: 'applied', recordsCorrected: 1 })
}

type PriceList = { readonly productRef: string; readonly [plan: string]: string }

async function createPriceList(): Promise<PriceList> {
  const { client } = clocks
  const { reference: productRef } = await client.createProduct({ name: 'Weather API' })
  await client.require('POST', '/v1/ui/meters', { name: 'tokens' })
  const plan = async (terms: Record<string, unknown>): Promise<string> =>
    (await client.createPlan(productRef, { billingCycle: 'monthly', ...terms })).reference
  const tiersOf = (upTo: number, price: string, above: string) => [
    { upTo, price },
    { upTo: null, price: above },
  ]
  const requestCharge = { meter: 'requests', model: 'graduated', included: 1_000 }
  const tokenCharge = { meter: 'tokens', model: 'volume' }
  return {
    productRef,
    starter: await plan({ name: 'Starter', type: 'recurring', price: 1_900 }),
    pro: await plan({
      ...{ name: 'Pro', type: 'hybrid', price: 4_900 },
      charges: [{ ...requestCharge, tiers: tiersOf(9_000, '0.5', '0.3') }],
    }),
    scale: await plan({
      ...{ name: 'Scale', type: 'usage-based', billingModel: 'post-paid' },
      charges: [{ ...tokenCharge, tiers: tiersOf(1_000_000, '0.0004', '0.00025') }],
    }),
  }
}

test('14 months of three plans', { timeout: 600_000 }, async () => {
  const { client } = clocks
  const { productRef, starter: starterRef, pro: proRef, scale: scaleRef } = await createPriceList()
  const clock = await clocks.createClock(startsAt)
  const starter = await clocks.createCustomer(clock)
  await clocks.buy(starter, productRef, starterRef!)
  const pro = await clocks.createCustomer(clock)
  await clocks.buy(pro, productRef, proRef!)
  const scale = await clocks.createCustomer(clock)
  await enterCard(scale, 'pm_card_visa')
  await clocks.post('/v1/sdk/activate', { customerRef: scale, productRef, planRef: scaleRef })

  for (const month of months) {
    await clocks.advance(clock, dayOf(month, '15'))
    const idempotencyKey = `month-${month}`
    await client.recordUsage({
      customerRef: pro,
      productRef,
      units: requests[month],
      idempotencyKey,
    })
    const event = { meterName: 'tokens', value: tokens[month], idempotencyKey }
    await clocks.post('/v1/sdk/meter-events', {
      customerRef: scale,
      productRef,
      ...event,
    })
    if (month === 2) await enterCard(pro, 'pm_card_chargeCustomerFail')
    if (month === 4) await enterCard(starter, 'pm_card_createDispute')
    if (month === 6) await raisePrice(productRef, proRef!)
    if (month === 9) {
      await correct({ customerRef: pro, idempotencyKey: 'month-7' }, 20_000)
      await correct({ customerRef: scale, idempotencyKey: 'month-8' }, 900_000)
      await correct({ customerRef: scale, idempotencyKey: 'month-9' }, 150_000)
    }

    await clocks.advance(clock, dayOf(month + 1, '02'))
    if (month === 2) {
      expect(await statusOf(pro)).toBe('past_due')
      await enterCard(pro, 'pm_card_visa')
    }
    if (month === 4) {
      await loseDispute()
      await expect.poll(() => statusOf(starter)).toBe('suspended')
      await clocks.buy(starter, productRef, starterRef!)
    }
  }

  expect(await paidInvoices(starter)).toEqual([
    `${startsAt} 1900 paid`,
    ...months.slice(1, 6).map((month) => `${renewedAt(month)} 1900 paid`),
    `${dayOf(5, '02')} 1900 paid`,
    // Renewals run at 10:00, two hours before the time of day at which this period ends.
    ...months.slice(6).map((month) => `${dayOf(month, '03', '10:00:00.000')} 1900 paid`),
  ])
  // The corrected months were billed, so the next bill of usage has the difference.
  const credit = {
    pro: requestsOfPro(20_000) - requestsOfPro(requests[7]!),
    scale: tokensOfScale(900_000) - tokensOfScale(tokens[8]!),
  }
  expect(await paidInvoices(pro)).toEqual(
    paid([
      { at: startsAt, amount: 4_900 },
      ...months.flatMap((month) => [
        { at: renewedAt(month + 1), amount: month < 6 ? 4_900 : 5_900 },
        ...billOf(month, requestsOfPro(requests[month]!) + (month === 9 ? credit.pro : 0)),
      ]),
    ]),
  )
  expect(await paidInvoices(scale)).toEqual(
    paid(
      months.flatMap((month) =>
        month === 9
          ? billOf(month, tokensOfScale(150_000) + credit.scale)
          : billOf(month, tokensOfScale(tokens[month]!)),
      ),
    ),
  )
  const runner = await ClockRunner.open(clocks)
  try {
    const { reports } = await runner.reconcile(new Date(dayOf(lastMonth + 1, '01')))
    expect(reports.flatMap(({ findings, gaps }) => [findings, gaps])).toEqual([[], []])
  } finally {
    await runner.close()
  }
})

type Bill = { readonly at: string; readonly amount: number }

/** A period that costs nothing has no invoice. */
function billOf(month: number, amount: number): readonly Bill[] {
  return amount === 0 ? [] : [{ at: usageBilledAt(month + 1), amount }]
}

/** Less than 50 cents cannot be charged, and is on the next invoice. */
function paid(bills: readonly Bill[]): readonly string[] {
  let carried = 0
  return bills.map(({ at, amount }) => {
    const total = amount + carried
    carried = total < 50 ? total : 0
    return `${at} ${total} paid`
  })
}
