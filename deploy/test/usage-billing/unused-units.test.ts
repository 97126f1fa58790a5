import { carriedOverMicros } from '@tollgate/domain/entitlements/carried-over'
import { currentPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { purchaseUsage } from '@tollgate/domain/entitlements/usage-view'
import { movePurchase } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { publish } from '@tollgate/domain/publishing/publisher'
import { windowId, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { publisherOf } from '@tollgate/billing-runner/open-parts'
import { beforeEach, expect, test } from 'vitest'
import { hybrid, postPaid, UsageShop } from './usage-shop.ts'

/* Units left over from a period, as handled by the runner: its events, its settlements, and matching invoices. */

const usageShop = new UsageShop()
// Invoices of 0 also contain the carried-over units, so they are issued.
beforeEach(() => usageShop.issueZeroInvoices(true))
const rolling = { ...postPaid, freeUnits: 0, limit: 1_000, rolloverUnusedUnits: true } as const
const rollingOverage = {
  ...hybrid,
  limit: 1_000,
  rolloverUnusedUnits: true,
  overagePolicy: { allowOverage: true, maxOverage: 5_000 },
} as const
const none = { TOLLGATE_BILLING_TRIES_MAX: '1', TOLLGATE_USAGE_STORED_WAIT_MS: '50' }

function reset(at: string, settings = {}) {
  return usageShop.runner.runJob('usage-reset', at, usageShop.paying, settings)
}

async function emittedEvents(): Promise<unknown[]> {
  const events = await usageShop.runner.events(usageShop.shop, /^usage\.reset$/)
  return events.map(({ object }) => object['carriedOverUnits'])
}

/** Returns what a limit check uses: the published entry and the counters. */
async function counted({ customerRef, productRef }: Purchase) {
  const { eventLog, hotState, clock } = usageShop.runner.parts
  const publisher = publisherOf(usageShop.runner.parts)
  const { providerId } = usageShop.shop
  await publish(
    publisher,
    'sandbox',
    { kind: 'customer', providerId, target: customerRef },
    'always',
  )
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, eventLog.partitionCount(usageTopic('sandbox')))
  const head = await eventLog.head(usageTopic('sandbox'), partition)
  await expect
    .poll(() => hotState.appliedOffset('sandbox', partition), { timeout: 30_000 })
    .toBeGreaterThanOrEqual(head)
  const at = { space: 'sandbox', partition, subject, scope: productRef }
  const { document, amounts } = await hotState.readEntry(at, 'requests')
  const entitlement = JSON.parse(document!) as Entitlement
  const period = currentPeriod(entitlement, clock.now())!
  return {
    usedMicros: amounts.get(windowId(entitlement.purchaseRef, period.startSecond)) ?? 0n,
    carriedOverMicros: carriedOverMicros(entitlement, period, amounts, clock.now()),
  }
}

/** Returns the units carried into the period and its current cost, from published and counted data. */
async function costSoFar(purchase: Purchase) {
  const plan = purchase.planSnapshot!
  const period = purchasePeriodAt(purchase, plan, new Date(usageShop.runner.clock.now()))
  const dollars = { currency: 'USD', unitsPerDollar: '1' }
  const usage = await counted(purchase)
  const { overageCost } = purchaseUsage(plan, usage, period, dollars)
  return { carriedOverMicros: usage.carriedOverMicros, overageCost }
}

async function usageLines(purchase: Purchase) {
  const lines = (await usageShop.invoicesOf(purchase)).flatMap((invoice) => invoice.lines)
  return lines.filter(({ inputs }) => inputs.kind === 'usage')
}

async function suspend(purchase: Purchase, at: string): Promise<void> {
  await move(purchase, at, 'renewal-failed')
  await move(purchase, at, 'retries-spent')
}

function restore(purchase: Purchase, at: string): Promise<void> {
  return move(purchase, at, 'paid')
}

function move(
  { reference }: Purchase,
  at: string,
  trigger: 'renewal-failed' | 'retries-spent' | 'paid',
): Promise<void> {
  usageShop.runner.clock.set(at)
  return usageShop.runner.within(usageShop.shop, async (work) => {
    const held = await lockPurchase(work.sql, work.providerId, reference)
    await movePurchase(work, held!, trigger)
  })
}

test('reports unused units with their period, after the usage recorded by then', async () => {
  const purchase = await usageShop.buy(rolling)
  await usageShop.use(purchase, 600, '2026-02-10T00:00:00Z')
  await reset('2026-02-28T12:00:00Z')
  await usageShop.use(purchase, 1_200, '2026-03-10T00:00:00Z')
  await reset('2026-03-31T12:00:00Z')
  await reset('2026-04-30T12:00:00Z')
  expect(await emittedEvents()).toEqual([400, 0, 1_000])
})

test('reports no unused units before all acknowledged records are stored', async () => {
  const purchase = await usageShop.buy(rolling)
  await usageShop.stack.stopProjections()
  await usageShop.use(purchase, 600, '2026-02-10T00:00:00Z')
  expect(await reset('2026-02-28T12:00:00Z', none)).toEqual(new Map([['failed', 1]]))
  expect(await emittedEvents()).toEqual([])
  await usageShop.stack.startProjections()
  await reset('2026-02-28T12:30:00Z')
  await reset('2026-02-28T13:00:00Z')
  expect(await emittedEvents()).toEqual([400])
})

test('finalizes the unused units of a quarter only when no more usage can arrive for it', async () => {
  const purchase = await usageShop.buy({ ...rolling, billingCycle: 'quarterly' })
  await usageShop.use(purchase, 600, '2026-02-10T00:00:00Z')
  await reset('2026-04-30T12:00:00Z')
  expect(await emittedEvents()).toEqual([400])
  expect((await usageShop.now(purchase)).carrySettlesAt).toEqual(new Date('2026-05-30T13:00:00Z'))
  expect((await counted(purchase)).carriedOverMicros).toBe(400_000_000n)

  usageShop.runner.clock.set('2026-05-20T00:00:00Z')
  await usageShop.useLate(purchase, 50, '2026-04-25T00:00:00Z')
  expect((await counted(purchase)).carriedOverMicros).toBe(350_000_000n)
  expect((await reset('2026-05-30T12:59:59Z')).size).toBe(0)
  await reset('2026-05-30T13:00:00Z')
  expect(await usageShop.now(purchase)).toMatchObject({
    carriedInto: new Date('2026-04-30T12:00:00Z'),
    carriedOverMicros: 350_000_000n,
    carrySettlesAt: null,
  })
  // The counters of the previous quarter are deleted by then.
  usageShop.runner.clock.set('2026-07-15T00:00:00Z')
  expect((await counted(purchase)).carriedOverMicros).toBe(350_000_000n)
  await usageShop.bill('2026-07-31T00:00:00Z')
  await usageShop.bill('2026-07-31T13:00:00Z')
  const lines = (await usageShop.invoicesOf(purchase)).flatMap((invoice) => invoice.lines)
  expect(lines.at(-1)).toMatchObject({ inputs: { kind: 'usage', carriedOverUnits: '350' } })
  // The settled amount belongs to one quarter and to no other.
  expect((await counted(purchase)).carriedOverMicros).toBe(1_000_000_000n)
})

test('carries nothing over from a quarter that was not finalized in time', async () => {
  const purchase = await usageShop.buy({ ...rolling, billingCycle: 'quarterly' })
  usageShop.runner.clock.set('2026-06-01T11:59:59Z')
  expect((await counted(purchase)).carriedOverMicros).toBe(1_000_000_000n)
  usageShop.runner.clock.set('2026-06-01T12:00:00Z')
  expect((await counted(purchase)).carriedOverMicros).toBe(0n)
})

test('finalizes unused units when they can be, even if a check was scheduled at another time', async () => {
  const week = await usageShop.buy({ ...rolling, billingCycle: 'weekly' })
  const quarter = await usageShop.buy({ ...rolling, billingCycle: 'quarterly' })
  const plain = await usageShop.buy(postPaid)
  // The state of purchases that existed before an upgrade.
  const sql = usageShop.runner.database.in('sandbox')
  await sql`
    update purchases set carry_settles_at = '2026-05-10T00:00:00Z', next_reset_at = null
    where provider_id = ${usageShop.shop.providerId}`
  await reset('2026-05-10T00:00:00Z')
  expect((await usageShop.now(week)).carrySettlesAt).toBeNull()
  expect((await usageShop.now(plain)).carrySettlesAt).toBeNull()
  expect((await usageShop.now(quarter)).carrySettlesAt).toEqual(new Date('2026-05-30T13:00:00Z'))
  await reset('2026-06-01T00:00:00Z')
  expect(await usageShop.now(quarter)).toMatchObject({ carriedOverMicros: 1_000_000_000n })
  expect(await emittedEvents()).toEqual([])
})

test('carries nothing over from a period without access, in checks, events and bills', async () => {
  const purchase = await usageShop.buy(rolling)
  await suspend(purchase, '2026-02-11T00:00:00Z')
  await usageShop.bill('2026-03-01T00:00:00Z')
  await restore(purchase, '2026-03-10T00:00:00Z')
  expect((await counted(purchase)).carriedOverMicros).toBe(0n)
  await usageShop.use(purchase, 300, '2026-03-11T00:00:00Z')
  await reset('2026-04-01T00:00:00Z')
  expect(await emittedEvents()).toEqual([0, 700])
  await usageShop.bill('2026-04-01T00:00:00Z')
  expect((await usageShop.invoicesOf(purchase)).at(-1)).toMatchObject({
    lines: [{ inputs: { kind: 'usage', usedUnits: '300', carriedOverUnits: '0' } }],
  })
  expect((await counted(purchase)).carriedOverMicros).toBe(700_000_000n)
})

test.each([
  { billingCycle: 'monthly', days: ['2026-03-10', '2026-03-14', '2026-03-16'], end: '2026-03-31' },
  // The units left of the quarter are settled by then.
  {
    billingCycle: 'quarterly',
    days: ['2026-06-10', '2026-06-14', '2026-06-16'],
    end: '2026-07-31',
  },
] as const)(
  'keeps carried-over units if access is lost later in the period ($billingCycle)',
  async ({ billingCycle, days, end }) => {
    const purchase = await usageShop.buy({
      ...rollingOverage,
      billingStrategy: 'usage_first',
      billingCycle,
    })
    await usageShop.use(purchase, 300, '2026-02-10T00:00:00Z')
    for (const at of ['2026-02-28T12:00:00Z', '2026-04-30T12:00:00Z', '2026-05-30T13:00:00Z']) {
      if (at < days[0]) await reset(at)
    }
    const [used, suspended, restored] = days.map((day) => `${day}T00:00:00Z`) as [
      string,
      ...string[],
    ]
    await usageShop.use(purchase, 1_800, used)
    const before = await costSoFar(purchase)
    expect(before).toEqual({ carriedOverMicros: 700_000_000n, overageCost: 100 })
    await suspend(purchase, suspended!)
    await restore(purchase, restored!)
    expect(await costSoFar(purchase)).toEqual(before)
    await usageShop.bill(`${end}T13:00:00Z`)
    await usageShop.bill(`${end}T13:00:00Z`)
    expect(await usageLines(purchase)).toMatchObject([
      { amountMinor: 0n, inputs: { usedUnits: '300', carriedOverUnits: '0' } },
      { amountMinor: 100n, inputs: { usedUnits: '1800', carriedOverUnits: '700' } },
    ])
  },
)

test('carries nothing over if access was missing at the start of the period', async () => {
  const purchase = await usageShop.buy({ ...rollingOverage, billingCycle: 'quarterly' })
  await suspend(purchase, '2026-04-20T00:00:00Z')
  // The state after a runner of an older version settled it.
  const sql = usageShop.runner.database.in('sandbox')
  await sql`
    update purchases set carried_into = '2026-04-30T12:00:00Z', carried_over_micros = 1000000000
    where provider_id = ${usageShop.shop.providerId}`
  await restore(purchase, '2026-06-12T00:00:00Z')
  expect((await counted(purchase)).carriedOverMicros).toBe(0n)
})

test('shows a cost so far that equals the later bill', async () => {
  const purchase = await usageShop.buy({ ...rollingOverage, creditsPerUnit: 80.5 })
  const costs: number[] = []
  for (const [month, units] of [
    ['02', 333.25],
    ['03', 2_000.123456],
    ['04', 7_500],
  ] as const) {
    await usageShop.use(purchase, units, `2026-${month}-15T00:00:00Z`)
    costs.push((await costSoFar(purchase)).overageCost)
  }
  expect(costs[0]).toBe(0)
  await usageShop.renew('2026-06-01T00:00:00Z')
  for (const at of ['2026-06-01T00:00:00Z', '2026-06-01T01:00:00Z']) {
    await usageShop.bill(at)
    await usageShop.renew(at)
  }
  const billed = await usageLines(purchase)
  expect(billed.slice(0, 3).map(({ amountMinor }) => Number(amountMinor))).toEqual(costs)
})
