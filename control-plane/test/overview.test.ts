import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { OverviewBody } from '@tollgate/schemas/http/overview'
import { at, movement, now, storeMovement, sumMovements } from './overview-movements.ts'
import { createConsoleRollUps } from './roll-up-tables.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* The numbers of the console's Home, compared with sums over the objects that the tests store. */

const { seed } = randomRuns(1)
const dayMs = 86_400_000
const zones = ['UTC', 'America/New_York', 'Europe/Paris', 'Asia/Tokyo']

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant
let stranger: Tenant
let customers: string[]
let owner: Database
let sql: Database['control']

beforeAll(async () => {
  usage = await startTestUsageStore()
  await createConsoleRollUps(usage.store)
  stack = await startTestStack({ usageStore: usage.store })
  tenant = await stack.createTenant()
  stranger = await stack.createTenant()
  owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 1 })
  sql = owner.in('sandbox')
  // The objects are stored without those that they would refer to.
  await sql`set session_replication_role = replica`
  customers = []
  for (const externalRef of ['user_1', 'user_2', 'user_3']) {
    const body = { email: `${externalRef}@example.com`, externalRef }
    const made = await stack.call<CustomerBody>(
      tenant.sandboxKey,
      'POST',
      '/v1/sdk/customers',
      body,
    )
    customers.push(made.body.reference)
  }
  stack.clock.set(now)
})
afterAll(async () => {
  await owner.close()
  await stack.stop()
  await usage.stop()
})

async function overview(timeZone = 'UTC', key = tenant.sandboxKey): Promise<OverviewBody> {
  const path = `/v1/ui/overview?timeZone=${timeZone}`
  const { status, body } = await stack.call<OverviewBody>(key, 'GET', path)
  expect([status, body]).toMatchObject([200, {}])
  return body
}

function dateIn(timeZone: string, at: Date): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(at)
}

test(`revenue is what was paid less what was returned, by day of the time zone (seed ${seed})`, async () => {
  const movements = fc.sample(movement, { seed, numRuns: 150 })
  const { providerId } = tenant
  for (const [index, each] of movements.entries()) {
    await storeMovement(sql, { providerId, customerRef: customers[0]! }, each, index)
  }
  for (const zone of zones) {
    const { days, total } = await overview(zone)
    expect(days).toHaveLength(30)
    expect(days.at(-1)?.date).toBe(dateIn(zone, new Date(now)))
    const inDays = (dates: readonly string[]) =>
      sumMovements(movements.filter((each) => dates.includes(dateIn(zone, each.at))))
    for (const { date, revenue } of days) expect([date, revenue]).toEqual([date, inDays([date])])
    expect(total.revenue).toEqual(inDays(days.map(({ date }) => date)))
  }
})

const hour = fc
  .integer({ min: -45 * 24, max: 0 })
  .map((hours) => new Date(Date.parse(now) + hours * 3_600_000))
const row = fc.record({
  at: hour,
  customer: fc.constantFrom('a', 'b', 'c', 'd'),
  meter: fc.constantFrom('requests', 'tokens'),
  outcome: fc.constantFrom('success', 'success', 'paywall'),
  events: fc.nat(9),
  debit: fc.nat(50_000_000),
})
const credit = fc.record({ at, micros: fc.nat(9_000_000), isTaken: fc.boolean() })

test(`usage and credits are summed by day of the time zone (seed ${seed})`, async () => {
  const rows = fc.sample(row, { seed, numRuns: 200 })
  const lines = rows.map(({ at: from, customer, meter, outcome, events, debit }) =>
    JSON.stringify({
      ...{
        provider_id: tenant.providerId,
        meter_name: meter,
        customer_ref: customer,
        outcome,
        events,
      },
      ...{
        hour: from.getTime() / 1_000,
        debit: (debit / 1_000_000).toFixed(6),
        value: '1',
        records: 1,
      },
    }),
  )
  const format = 'SETTINGS input_format_skip_unknown_fields = 1 FORMAT JSONEachRow'
  for (const table of ['usage_by_purchase', 'usage_by_meter']) {
    await usage.store.command(`INSERT INTO sandbox.${table} ${format} ${lines.join('\n')}`)
  }
  await usage.store.command(
    `INSERT INTO sandbox.active_customers
     SELECT provider_id, hour, uniqCombined64State(15)(customer_ref) FROM sandbox.usage_by_purchase
     WHERE outcome = 'success' GROUP BY provider_id, hour`,
  )
  const credits = fc.sample(credit, { seed, numRuns: 60 })
  for (const [index, { at: from, micros, isTaken }] of credits.entries()) {
    if (isTaken) {
      await sql`insert into credit_take_backs
        (provider_id, reference, cause, intent_ref, customer_ref, amount, credits, taken_micros, created_at, updated_at)
        values (${tenant.providerId}, ${`tb_${index}`}, 'refund', 'x', 'y', 1, 100, ${micros}, ${from}, now())`
    } else {
      await sql`insert into credit_grants
        (provider_id, transaction_ref, customer_ref, granted_micros, remaining_micros, created_at, paid, paid_currency)
        values (${tenant.providerId}, ${`gr_${index}`}, 'y', ${micros + 1}, 0, ${from}, 1, 'USD')`
    }
  }
  const micros = (decimal = ''): number => Math.round(Number(decimal) * 1_000_000)
  for (const zone of zones) {
    const { days, total } = await overview(zone)
    const expected = (dates: readonly string[]) => {
      const used = rows.filter((each) => dates.includes(dateIn(zone, each.at)))
      const sold = credits.filter((each) => dates.includes(dateIn(zone, each.at)))
      const counted = used.filter(({ outcome }) => outcome === 'success')
      return {
        events: used.reduce((sum, { events }) => sum + events, 0),
        activeCustomers: new Set(counted.map(({ customer }) => customer)).size,
        used: used.reduce((sum, { debit }) => sum + debit, 0),
        sold: sold.reduce((sum, each) => sum + (each.isTaken ? -each.micros : each.micros + 1), 0),
      }
    }
    const shown = ({
      events,
      activeCustomers,
      creditsUsed,
      creditsSold,
    }: OverviewBody['total']) => ({
      ...{ events, activeCustomers, used: micros(creditsUsed), sold: micros(creditsSold) },
    })
    for (const day of days) expect([day.date, shown(day)]).toEqual([day.date, expected([day.date])])
    expect(shown(total)).toEqual(expected(days.map(({ date }) => date)))
  }
})

type Sold = {
  readonly status: string
  readonly renews: boolean
  readonly type: string
  readonly price: number
  readonly base: number | null
  readonly cycle: keyof typeof monthsOf
  readonly currency: string
  readonly planCurrency: string
  readonly isRamped: boolean
}
/** The months of a period, as a fraction. */
const monthsOf = {
  weekly: [84, 365],
  monthly: [1, 1],
  quarterly: [3, 1],
  yearly: [12, 1],
  custom: [12 * 10, 365],
} as const
const sold: fc.Arbitrary<Sold> = fc.record({
  status: fc.constantFrom('active', 'active', 'past_due', 'trialing', 'suspended', 'cancelled'),
  renews: fc.boolean(),
  type: fc.constantFrom('recurring', 'hybrid', 'usage-based'),
  price: fc.nat(100_000),
  base: fc.option(fc.nat(50_000)),
  cycle: fc.constantFrom('weekly', 'monthly', 'quarterly', 'yearly', 'custom'),
  currency: fc.constantFrom('USD', 'EUR'),
  planCurrency: fc.constantFrom('USD', 'EUR'),
  isRamped: fc.boolean(),
})

/** A ramp has prices in the currency of the plan only, and replaces a price that the plan has. */
function hasRamp({ isRamped, currency: of, planCurrency, type, price }: Sold): boolean {
  return isRamped && of === planCurrency && type === 'recurring' && price >= 100
}

test(`MRR is the price of a month of what renews (seed ${seed})`, async () => {
  const purchases = fc.sample(sold, { seed, numRuns: 120 })
  for (const [index, each] of purchases.entries()) {
    const { type, price, base, cycle, planCurrency } = each
    const isRamped = hasRamp(each)
    const prices = { price, ...(base === null ? {} : { basePrice: base }) }
    const plan = {
      ...{ reference: 'pln_1', name: 'Plan', type, setupFeeMinor: null, meterRef: null },
      currency: planCurrency,
      // Prices in another currency are an option beside those of the plan.
      priceMinor: each.currency === planCurrency ? price : 77,
      basePriceMinor: each.currency === planCurrency ? base : 66,
      terms: {
        billingCycle: cycle,
        ...(cycle === 'custom' ? { billingCycleDays: 10 } : {}),
        ...(isRamped ? { ramp: [{ periods: 1, price: 90 }] } : {}),
        ...(each.currency === planCurrency
          ? {}
          : { pricingOptions: [{ currency: each.currency, ...prices }] }),
      },
    }
    // Ramped plans are in their second period, whose prices are those beside the ramp, or in their first one.
    const start = new Date(Date.parse(now) - (index % 2 === 0 ? 2 : 500) * dayMs)
    await sql`insert into purchases
      (provider_id, reference, customer_ref, product_ref, plan_ref, plan_snapshot, status, origin, amount, currency,
       anchor, cycle_mode, billing_cycle, is_recurring, auto_renew, start_date, created_at, updated_at)
      values (${tenant.providerId}, ${`pur_${index}`}, ${customers[0]!}, ${`prd_${index}`}, 'pln_1', ${sql.json(plan)},
        ${each.status}, 'paid', 0, ${each.currency}, ${start}, 'calendar', ${cycle}, true, ${each.renews}, ${start},
        now(), now())`
  }
  const expected = ['EUR', 'USD'].flatMap((of) => {
    const counted = purchases.flatMap((each, index) => {
      const isCharged = ['active', 'past_due'].includes(each.status) && each.renews
      if (each.currency !== of || !isCharged) return []
      const isFirst = hasRamp(each) && index % 2 === 0
      const prices = { recurring: each.price, hybrid: each.base ?? each.price, 'usage-based': 0 }
      const own = isFirst ? 90 : prices[each.type as keyof typeof prices]
      return own === 0 ? [] : [{ own, cycle: each.cycle }]
    })
    if (counted.length === 0) return []
    const cents = counted.reduce((sum, { own, cycle }) => {
      const [months, per] = monthsOf[cycle]
      return sum + (own * per) / months
    }, 0)
    return [{ currency: of, amount: cents, purchases: counted.length }]
  })
  const { mrr, mrrIsExact } = await overview()
  expect(mrr.map(({ amount: _, ...rest }) => rest)).toEqual(
    expected.map(({ amount: _, ...rest }) => rest),
  )
  for (const [index, { amount: cents }] of mrr.entries()) {
    expect(Math.abs(cents - expected[index]!.amount)).toBeLessThanOrEqual(0.5 + 1e-3)
  }
  expect(mrrIsExact).toBe(true)
})

test('lists customers near a limit, failed payments and failing endpoints', async () => {
  const { providerId } = tenant
  expect(await overview()).toMatchObject({
    ...{ nearLimits: [], hasLimitAlert: false, failedPayments: { total: 0, newest: [] } },
    ...{ failingEndpoints: [], secondsBehind: 0 },
  })
  const alert = { watches: 'limit', thresholds: [{ percent: 80 }] }
  expect((await stack.call(tenant.sandboxKey, 'POST', '/v1/ui/alerts', alert)).status).toBe(201)
  const fire = async (customerRef: string, threshold: number, watches: string, end: string) => {
    const object = {
      watches,
      customer: customerRef,
      product: 'prd_1',
      purchase: null,
      limit: 'requests',
      threshold,
    }
    await sql`insert into alert_firings
      (provider_id, customer_ref, subject, period, threshold, fired_at, object, period_end)
      values (${providerId}, ${customerRef}, ${watches}, ${end}, ${String(threshold)}, ${`2026-04-01T0${threshold % 9}:00:00Z`},
        ${sql.json({ ...object, value: threshold + 1, whole: 100 })}, ${end})`
  }
  await fire(customers[0]!, 80, 'limit', '2026-05-01')
  await fire(customers[0]!, 100, 'limit', '2026-05-01')
  await fire(customers[1]!, 80, 'limit', '2026-03-31')
  await fire(customers[2]!, 80, 'spend', '2026-05-01')
  await sql`insert into invoices
    (provider_id, reference, number, status, customer_ref, currency, total, carried, credited, parties, issued_at, created_at,
     updated_at, failed_charges, next_charge_at)
    select ${providerId}, 'inv_' || n, n, case n when 3 then 'void' else 'open' end, ${customers[0]!}, 'EUR', 1000, 100,
      50, '{}', now(), now(), ${now}::timestamptz - n * interval '1 hour', n - 1, case n when 2 then ${now}::timestamptz end
    from generate_series(1, 12) n`
  const endpoint = async (
    reference: string,
    status: string,
    reason: string | null,
    since: string | null,
  ) => {
    await sql`insert into webhook_endpoints
      (provider_id, reference, url, status, disabled_reason, disabled_at, failure_count, failing_since, created_at, updated_at)
      values (${providerId}, ${reference}, 'https://example.com', ${status}, ${reason}, ${reason === null ? null : now}, 3,
        ${since}, now(), now())`
  }
  await endpoint('we_fine', 'enabled', null, null)
  await endpoint('we_failing', 'enabled', null, '2026-04-01T00:00:00Z')
  await endpoint('we_gone', 'disabled', 'gone', null)
  await endpoint('we_chosen', 'disabled', 'provider', null)
  const found = await overview()
  expect(found.hasLimitAlert).toBe(true)
  expect(found.nearLimits).toEqual([
    {
      customerRef: customers[0],
      customerEmail: 'user_1@example.com',
      productRef: 'prd_1',
      limit: 'requests',
      value: 101,
      whole: 100,
      reachedAt: '2026-04-01T01:00:00.000Z',
    },
  ])
  expect(found.failedPayments).toMatchObject({ total: 10 })
  expect(found.failedPayments.newest[0]).toEqual({
    invoiceRef: 'inv_2',
    customerRef: customers[0],
    currency: 'EUR',
    amount: 850,
    failedCharges: 1,
    failedAt: '2026-04-02T07:00:00.000Z',
    nextChargeAt: now,
  })
  expect(found.failingEndpoints).toEqual([
    {
      reference: 'we_failing',
      status: 'enabled',
      failedAttempts: 3,
      since: '2026-04-01T00:00:00.000Z',
    },
    { reference: 'we_gone', status: 'disabled', failedAttempts: 3, since: now },
  ])
})

test('shows nothing of another provider or environment', async () => {
  for (const key of [stranger.sandboxKey, tenant.liveKey]) {
    const { days, total, mrr, nearLimits, failedPayments, failingEndpoints } = await overview(
      'UTC',
      key,
    )
    expect({ mrr, nearLimits, failingEndpoints, total: failedPayments.total }).toEqual({
      ...{ mrr: [], nearLimits: [], failingEndpoints: [], total: 0 },
    })
    for (const { events, revenue, creditsSold, creditsUsed } of [...days, total]) {
      expect({ events, revenue, creditsSold, creditsUsed }).toEqual({
        ...{ events: 0, revenue: [], creditsSold: '0', creditsUsed: '0' },
      })
    }
  }
})

test('says how long ago the oldest record was accepted that is not stored yet', async () => {
  stack.clock.set()
  await stack.countUsage({ providerId: tenant.providerId, customerRef: customers[0]!, units: 1 })
  const { secondsBehind } = await overview()
  stack.clock.set(now)
  expect(secondsBehind).toBeGreaterThan(0)
})

test('is shown without usage while ClickHouse is away, and refuses unknown time zones', async () => {
  await usage.store.command('RENAME TABLE sandbox.usage_by_meter TO sandbox.away')
  const { days, total } = await overview()
  await usage.store.command('RENAME TABLE sandbox.away TO sandbox.usage_by_meter')
  expect([days[0]?.events, total.activeCustomers, total.creditsUsed]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(total.creditsSold).toEqual(expect.any(String))
  for (const zone of ['Mars/Olympus', "UTC'", '%2B02:00']) {
    const path = `/v1/ui/overview?timeZone=${zone}`
    expect((await stack.call(tenant.sandboxKey, 'GET', path)).status).toBe(400)
  }
})
