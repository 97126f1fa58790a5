import { noteCrossing } from '@tollgate/domain/billing/crossings-repository'
import { listCarried } from '@tollgate/domain/invoices/carried-amounts'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { previewCancel } from '@tollgate/domain/previews/preview-cancel'
import { previewChange } from '@tollgate/domain/previews/preview-change'
import { previewPurchase } from '@tollgate/domain/previews/preview-purchase'
import type { PreviewedInvoice } from '@tollgate/domain/previews/price-invoices'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { scheduleChange } from '@tollgate/domain/purchases/schedule-change'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { deliverPack } from '../usage-billing/add-pack.ts'
import { expectSameInvoices } from './expect-same-invoices.ts'
import { PreviewShop } from './preview-shop.ts'
import {
  acts,
  customers,
  planInputs,
  pricesFor,
  storySteps,
  type Act,
  type Customer,
  type StoryStep,
} from './random-previews.ts'

/*
 * Random plans, customers, usage and moments: the invoices are previewed, then the same thing is done and the billing runner makes
 * them. Every line, total, tax and date must be the same, and the preview must have written nothing.
 */

const runs = randomRuns(12, process.env['TOLLGATE_TEST_PREVIEWS'])
const begin = '2026-01-31T12:00:00Z'

const shop = await PreviewShop.start()
afterAll(() => shop.stop())

type Story = {
  readonly plan: Parameters<typeof shop.buy>[0]
  readonly isTrial: boolean
  readonly customer: Customer
  readonly steps: readonly (readonly [number, StoryStep])[]
  readonly act: Act
}

const stories: fc.Arbitrary<Story> = fc.record({
  plan: planInputs,
  isTrial: fc.boolean(),
  customer: customers,
  steps: storySteps,
  act: acts,
})

test(`${runs.numRuns} random previews equal what happens then`, { timeout: 0 }, async () => {
  // A smaller story is seldom worth the minutes that it takes to find it. The error names the seed.
  await fc.assert(fc.asyncProperty(stories, play), { ...runs, endOnFailure: true })
})

const dayMs = 86_400_000
const customer: Customer = {
  ...{ tax: undefined, carriedMinor: 0n, issuesZero: true, packUnits: 0 },
  ...{ coupons: [], agreed: undefined },
}
const wholePrice: Customer['coupons'][number] = {
  ...{ percentOff: '100', amountOffMinor: null, currency: null, isOfPurchase: true },
  duration: 'forever',
  durationInvoices: null,
}
/** The trial of 10 days has ended, and the billing runner has not renewed it yet. */
const overdueTrial = {
  isTrial: true,
  steps: [[15 * dayMs, { kind: 'use', micros: 1_000_000n, lateMs: 0 }]],
} as const

test('a change within the period of an overdue trial is renewed once', () =>
  play({
    ...overdueTrial,
    customer,
    plan: {
      type: 'usage-based',
      billingModel: 'post-paid',
      billingCycle: 'monthly',
      creditsPerUnit: 2,
    },
    act: {
      ...{ kind: 'schedule', waitMs: dayMs, billing: 'keep_period' },
      plan: { type: 'recurring', price: 4_000, billingCycle: 'monthly' },
    },
  }))

test('a change within the period of an overdue trial counts the discounts of its renewal', () =>
  play({
    ...overdueTrial,
    customer: { ...customer, coupons: [wholePrice] },
    plan: { type: 'recurring', price: 1_900, billingCycle: 'monthly' },
    act: {
      ...{ kind: 'schedule', waitMs: dayMs, billing: 'prorate' },
      plan: { type: 'recurring', price: 40, billingCycle: 'monthly' },
    },
  }))

async function play(story: Story): Promise<void> {
  await shop.open(begin)
  const purchase = await prepare(story)
  for (const [waitMs, step] of story.steps) {
    shop.runner.clock.set(new Date(shop.now.getTime() + waitMs).toISOString())
    await playStep(purchase, step)
  }
  const known = new Set((await shop.invoicesOf(purchase.customerRef)).map((each) => each.reference))
  const previewed = await previewAndAct(purchase, story.act, story.customer)
  await runUntilLast(purchase, previewed)
  const made = (await shop.invoicesOf(purchase.customerRef)).filter(
    ({ reference }) => !known.has(reference),
  )
  expectSameInvoices(previewed, made)
}

async function prepare({ plan, isTrial, customer }: Story): Promise<Purchase> {
  // A plan without periods after a trial has none.
  const trial = isTrial ? { trialDays: 10 } : {}
  const purchase = await shop.buy({ name: 'First', ...plan, ...trial }, isTrial)
  const { customerRef } = purchase
  await shop.within(({ sql, providerId, now }) =>
    changeMerchant(sql, providerId, { issueZeroInvoices: customer.issuesZero }, now),
  )
  if (customer.tax !== undefined) await shop.tax(customerRef, customer.tax)
  if (customer.carriedMinor !== 0n) await shop.carry(customerRef, customer.carriedMinor)
  for (const coupon of customer.coupons) await shop.redeem(purchase, coupon)
  await agree(customer, purchase, purchase.planRef!, plan)
  if (customer.packUnits > 0) await deliverPack(shop, purchase, { units: customer.packUnits })
  return purchase
}

/** Agrees the drawn prices for a plan, as far as they fit it. */
async function agree(
  { agreed }: Customer,
  { customerRef }: Purchase,
  planRef: string,
  plan: Parameters<typeof shop.buy>[0],
): Promise<void> {
  const prices = agreed && pricesFor(plan, agreed.prices)
  if (agreed === undefined || prices === undefined) return
  const from = new Date(shop.now.getTime() + agreed.fromDays * 86_400_000).toISOString()
  await shop.agree(customerRef, [{ planRef, from, ...prices }])
}

async function playStep(purchase: Purchase, step: StoryStep): Promise<void> {
  switch (step.kind) {
    case 'use':
      return shop.use(purchase, step.micros, step.lateMs)
    case 'run':
      return shop.runJobs(shop.now)
    case 'threshold':
      await shop.within(({ sql, providerId, now }) =>
        noteCrossing(sql, providerId, purchase.reference, now),
      )
      return shop.runJobs(shop.now, ['threshold-billing'])
  }
}

/** Previews the act and then does it. Returns the previewed invoices. */
async function previewAndAct(
  purchase: Purchase,
  act: Act,
  customer: Customer,
): Promise<readonly PreviewedInvoice[]> {
  const held = await shop.held(purchase)
  const before = await shop.countRows()
  const unchanged = async (): Promise<void> => expect(await shop.countRows()).toEqual(before)
  switch (act.kind) {
    case 'continue':
    case 'assume': {
      const usage = act.kind === 'continue' ? undefined : await assumedUsage(purchase, act.micros)
      const { invoices } = await previewPurchase(shop.parts(), shop.at, held, usage)
      await unchanged()
      if (act.kind === 'assume') await shop.use(purchase, act.micros)
      return invoices
    }
    case 'cancel': {
      const preview = await previewCancel(shop.parts(), shop.at, held)
      await unchanged()
      await shop.cancel(purchase)
      if (preview.kind === 'refused') return invoicesAhead(purchase)
      const { endDate, endedAt, nextBillingDate } = await shop.runner.purchase(
        shop.shop,
        purchase.reference,
      )
      expect(preview.purchase).toMatchObject({ endDate, endedAt, nextBillingDate })
      return preview.invoices
    }
    case 'schedule': {
      const { reference: planRef } = await shop.addPlan({ name: 'Second', ...act.plan })
      await agree(customer, purchase, planRef, act.plan)
      const effectiveAt =
        act.waitMs === undefined ? undefined : new Date(shop.now.getTime() + act.waitMs)
      const billing = effectiveAt === undefined ? undefined : act.billing
      await shop.within((work) =>
        scheduleChange(work, { purchaseRef: purchase.reference, planRef, effectiveAt, billing }),
      )
      const rows = await shop.countRows()
      const invoices = await invoicesAhead(purchase)
      expect(await shop.countRows()).toEqual(rows)
      return invoices
    }
    case 'change': {
      const plan = await shop.addPlan({ name: 'Second', ...act.plan })
      await agree(customer, purchase, plan.reference, act.plan)
      const rows = await shop.countRows()
      const change = { ...held, planRef: plan.reference }
      const preview = await previewChange(shop.parts(), shop.at, change)
      expect(await shop.countRows()).toEqual(rows)
      const outcome = await shop.take(held.customer, plan)
      if (preview.kind !== 'begins') {
        expect(preview).toEqual(outcome)
        return invoicesAhead(purchase)
      }
      const isNow = preview.startsAt.getTime() === shop.now.getTime()
      const expected = preview.needs === 'payment' ? 'payment-required' : 'activated'
      expect(outcome.kind).toBe(isNow ? expected : 'scheduled')
      return preview.invoices
    }
  }
}

async function invoicesAhead(purchase: Purchase): Promise<readonly PreviewedInvoice[]> {
  const held = await shop.held(purchase)
  return (await previewPurchase(shop.parts(), shop.at, held, undefined)).invoices
}

/** Returns all usage of the running period with so much more. */
async function assumedUsage(purchase: Purchase, more: bigint) {
  const held = await shop.held(purchase)
  const { invoices, period } = await previewPurchase(shop.parts(), shop.at, held, undefined)
  const lines = invoices.flatMap(({ lines: each }) => each)
  const usage = lines.find((line) => {
    const isUsage = line.inputs.kind === 'usage' || line.inputs.kind === 'late_usage'
    return isUsage && line.period?.start.getTime() === period?.start.getTime()
  })?.inputs
  if (usage?.kind !== 'usage') return undefined
  const used = BigInt(Math.round(Number(usage.usedUnits) * 1_000_000))
  return [{ meter: 'requests', units: Number(decimalFromMicros(used + more)) }]
}

/** Runs the jobs just before and at each date on which something is due, in order. */
async function runUntilLast(
  { reference }: Purchase,
  previewed: readonly PreviewedInvoice[],
): Promise<void> {
  const { nextBillingDate, endDate, scheduledPlanAt } = await shop.runner.purchase(
    shop.shop,
    reference,
  )
  const dates = [...previewed.map(({ at }) => at), nextBillingDate, endDate, scheduledPlanAt]
  const last = Math.max(0, ...previewed.map(({ at }) => at?.getTime() ?? 0))
  const due = dates
    .flatMap((at) => (at ? [at.getTime()] : []))
    .filter((at) => at >= shop.now.getTime() && at <= last)
  const begun = shop.now.getTime()
  for (const at of [...new Set(due)].sort((one, other) => one - other)) {
    if (at - 1 > begun) await shop.runJobs(new Date(at - 1))
    await shop.runJobs(new Date(at))
  }
}

test('carried amounts stay with the customer', async () => {
  await shop.open(begin)
  const purchase = await shop.buy({ type: 'recurring', price: 4_900, billingCycle: 'monthly' })
  await shop.carry(purchase.customerRef, -1_000n)
  const held = await shop.held(purchase)
  const { invoices } = await previewPurchase(shop.parts(), shop.at, held, undefined)
  expect(invoices).toMatchObject([{ cause: 'renewal', totalMinor: 3_900n, dueMinor: 3_900n }])
  const carried = await shop.within(({ sql, providerId }) =>
    listCarried(sql, providerId, purchase.customerRef),
  )
  expect(carried.get('USD')).toBe(-1_000n)
})
