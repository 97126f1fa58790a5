import { removeBudget, setBudget } from '@tollgate/domain/budgets/set-budget'
import type { BudgetAction } from '@tollgate/domain/budgets/budget'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { oracleChargePrice } from '../../../domain/test/charge-oracle.ts'
import { deliverPack } from '../usage-billing/add-pack.ts'
import { CrashingProcess } from '../money/crashing-process.ts'
import { AlertShop } from './alert-shop.ts'

/* Budgets of customers: what a period has cost, and when a published entitlement stops usage. */

const shop = await AlertShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

const tiers = [
  { upTo: 100, price: '10' },
  { upTo: null, price: '2.5' },
]

const metered: Partial<PlanCreateInput> = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  charges: [
    { key: 'tokens', meter: 'tokens', model: 'graduated', tiers, included: 10, per: 'period' },
  ],
}

async function budget(customerRef: string, amountMinor: number, action: BudgetAction = 'stop') {
  const productRef = shop.shop.product.reference
  const fields = { customerRef, productRef, amountMinor, currency: 'USD', action }
  await shop.stack.runner.within(shop.shop, (work) => setBudget(work, fields))
  await shop.publish(customerRef)
}

async function publishedStop(customerRef: string): Promise<Entitlement['budgetStop']> {
  const { hotState, parts } = shop.stack.runner
  const { providerId, product } = shop.shop
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, parts.eventLog.partitionCount(usageTopic('sandbox')))
  const at = { space: 'sandbox', partition, subject, scope: product.reference } as const
  const document = await hotState.readEntryDocument(at)
  return (JSON.parse(document!) as Entitlement).budgetStop
}

const spent = async (customerRef: string) => {
  const rows = await shop.sql<{ spent_minor: bigint }[]>`
    select spent_minor from spend_readings where customer_ref = ${customerRef}`
  return rows[0]?.spent_minor
}

const tokens = { meterName: 'tokens' }
const march = { startSecond: 1_772_359_200, endSecond: 1_775_037_600 }

test('stops at the budget and not before, at the price that an invoice would have', async () => {
  const { customerRef } = await shop.buy(metered)
  await budget(customerRef, 1_010)
  const terms = {
    model: 'graduated',
    tiers: tiers.map((tier) => ({ ...tier, upTo: tier.upTo === null ? null : String(tier.upTo) })),
    included: '10',
  } as const
  let used = 0
  for (const units of [5, 5, 60, 39, 1, 3.79, 0.01]) {
    await shop.use(customerRef, units, tokens)
    await shop.check()
    used = Math.round((used + units) * 100) / 100
    const cost = oracleChargePrice(terms, {
      used: String(used),
      carriedOver: '0',
      before: '0',
    }).nearest()
    expect(await spent(customerRef), `after ${used}`).toBe(cost)
    const isReached = cost >= 1_010n
    expect(await publishedStop(customerRef), `after ${used}`).toEqual(isReached ? march : undefined)
  }
  expect(await shop.reached()).toMatchObject([
    { type: 'usage.limit_reached', watches: 'budget', threshold: 1_010, whole: 1_010 },
  ])
})

test('a raised or removed budget acts at once, and a lowered one too', async () => {
  const { customerRef } = await shop.buy(metered)
  await budget(customerRef, 100)
  await shop.use(customerRef, 60, tokens)
  await shop.check()
  expect(await publishedStop(customerRef)).toEqual(march)
  await budget(customerRef, 600)
  expect(await publishedStop(customerRef)).toBeUndefined()
  await budget(customerRef, 500)
  expect(await publishedStop(customerRef)).toEqual(march)
  await budget(customerRef, 500, 'warn')
  expect(await publishedStop(customerRef)).toBeUndefined()
  await budget(customerRef, 400)
  const { reference } = shop.shop.product
  await shop.stack.runner.within(shop.shop, (work) => removeBudget(work, customerRef, reference))
  await shop.publish(customerRef)
  expect(await publishedStop(customerRef)).toBeUndefined()
})

test('measures a first budget of a running period without further usage', async () => {
  const { customerRef } = await shop.buy(metered)
  await shop.use(customerRef, 60, tokens)
  await shop.check()
  await budget(customerRef, 500)
  await shop.check()
  expect(await publishedStop(customerRef)).toEqual(march)
})

test('ends a stop with its period', async () => {
  const { customerRef } = await shop.buy(metered)
  await budget(customerRef, 500)
  await shop.use(customerRef, 60, tokens)
  await shop.check()
  shop.stack.runner.clock.set('2026-04-02T10:00:00Z')
  await shop.use(customerRef, 20, tokens)
  await shop.check()
  expect(await spent(customerRef)).toBe(100n)
  expect(await publishedStop(customerRef)).toBeUndefined()
})

test('ignores usage that packs pay for, whatever the periods before it used', async () => {
  const { customerRef } = await shop.buy({
    ...metered,
    charges: [
      {
        ...{ key: 'tokens', meter: 'tokens', model: 'per_unit', price: '10', per: 'period' },
        ...{ included: 10, rollover: true },
      },
    ],
  })
  await budget(customerRef, 1)
  await shop.use(customerRef, 5, tokens)
  shop.stack.runner.clock.set('2026-04-02T10:00:00Z')
  await deliverPack(
    { runner: shop.stack.runner, shop: shop.shop },
    { customerRef },
    { meter: 'tokens', units: 5 },
  )
  // 10 units are included and 5 are carried over, so the pack pays for none.
  await shop.use(customerRef, 14, tokens)
  await shop.check()
  shop.stack.runner.clock.set('2026-05-02T10:00:00Z')
  await shop.use(customerRef, 15, tokens)
  await shop.check()
  expect(await spent(customerRef)).toBe(0n)
  expect(await publishedStop(customerRef)).toBeUndefined()
  await shop.use(customerRef, 1, tokens)
  await shop.check()
  expect(await spent(customerRef)).toBe(10n)
})

test('a pack pays for usage until its end within the period, so that no budget stops early', async () => {
  const { customerRef } = await shop.buy(metered)
  await budget(customerRef, 100)
  const parts = { runner: shop.stack.runner, shop: shop.shop }
  await deliverPack(parts, { customerRef }, { meter: 'tokens', units: 30 }, 10)
  await shop.use(customerRef, 35, tokens)
  await shop.check()
  expect(await spent(customerRef)).toBe(0n)
  // The pack has ended and is not settled.
  shop.stack.runner.clock.set('2026-03-12T10:00:00Z')
  await shop.use(customerRef, 5, tokens)
  await shop.check()
  expect(await publishedStop(customerRef)).toBeUndefined()
  await shop.stack.runner.runJob('pack-settlement', '2026-03-12T10:01:00Z')
  await shop.use(customerRef, 5, tokens)
  await shop.check()
  // Of 45 units, 10 are included and the pack paid for 25.
  expect(await spent(customerRef)).toBe(100n)
})

test('emits and stops once, at whichever step the process dies', async () => {
  for (let atStep = 1; ; atStep += 1) {
    const { customerRef } = await shop.buy(metered)
    await budget(customerRef, 500)
    await shop.use(customerRef, 60, tokens)
    const life = new CrashingProcess({ atStep, sendsPendingCall: false })
    await shop.check(life)
    await shop.check()
    const events = (await shop.reached()).filter(({ customer }) => customer === customerRef)
    expect(events, `died ${life.steps.at(-1)}`).toHaveLength(1)
    // A publication that a process left in the queue is made by the next one at its start.
    const queued = await shop.sql`select 1 from publications where target = ${customerRef}`
    if (queued.length > 0) await shop.publish(customerRef)
    expect(await publishedStop(customerRef), `died ${life.steps.at(-1)}`).toEqual(march)
    if (!life.hasCrashed) break
  }
})

test('emits what usage costs, in an amount and in percent of the budget', async () => {
  const { customerRef } = await shop.buy(metered)
  const money = { amountMinor: 300, currency: 'USD' }
  await shop.alert([money, { percent: 80 }], { watches: 'spend' })
  await shop.use(customerRef, 45, tokens)
  await shop.check()
  await budget(customerRef, 500, 'warn')
  await shop.use(customerRef, 10, tokens)
  await shop.check()
  const events = (await shop.reached()).map(({ watches, percent, threshold }) => [
    ...[watches, percent, threshold],
  ])
  expect(events).toEqual([
    ['spend', null, 300],
    ['spend', 80, 400],
  ])
})
