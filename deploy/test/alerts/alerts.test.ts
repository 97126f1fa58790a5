import { eventDefinitions } from '@tollgate/schemas/event-types'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { AlertShop } from './alert-shop.ts'

/* Alerts on limits: what is emitted, for which period, and which alert applies. */

const shop = await AlertShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

const limited: Partial<PlanCreateInput> = { price: 0, billingCycle: 'monthly', limit: 1_000 }

const charged: Partial<PlanCreateInput> = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  charges: [
    { key: 'tokens', meter: 'tokens', model: 'per_unit', price: '1', included: 100, per: 'period' },
  ],
  usageLimits: [
    { key: 'daily', meter: 'requests', cap: 10, per: 'day' },
    { key: 'burst', meter: 'requests', cap: 20, per: 'rolling', rollingSeconds: 60 },
  ],
}

const brief = async () =>
  (await shop.reached()).map(({ type, limit, percent, threshold, value }) => [
    ...[type.replace(/^usage\./, ''), limit, percent, threshold, value],
  ])

test('emits each threshold and the limit itself once in a period', async () => {
  const { customerRef, reference } = await shop.buy(limited)
  await shop.alert([{ percent: 80 }, { percent: 50 }, { units: 600 }])
  await shop.use(customerRef, 499)
  await shop.check()
  expect(await brief()).toEqual([])
  await shop.use(customerRef, 201)
  await shop.check()
  await shop.check()
  await shop.use(customerRef, 300)
  await shop.check()
  await shop.use(customerRef, 5)
  await shop.check()
  expect(await brief()).toEqual([
    ['threshold_reached', 'requests', 50, 500, 700],
    ['threshold_reached', 'requests', null, 600, 700],
    ['threshold_reached', 'requests', 80, 800, 1_000],
    ['limit_reached', 'requests', 100, 1_000, 1_000],
  ])
  const [{ type, ...object }] = (await shop.reached()) as [
    Awaited<ReturnType<typeof shop.reached>>[0],
  ]
  expect(eventDefinitions[type].object.parse(object)).toEqual(object)
  expect(object).toMatchObject({ customer: customerRef, purchase: reference, whole: 1_000 })
})

test('emits them again in the next period, and late usage of an ended one with its period', async () => {
  const { customerRef } = await shop.buy(limited)
  await shop.alert([{ percent: 80 }])
  await shop.use(customerRef, 850)
  await shop.check()
  shop.stack.runner.clock.set('2026-04-02T10:00:00Z')
  await shop.publish(customerRef)
  await shop.use(customerRef, 900)
  await shop.use(customerRef, 200, { at: '2026-03-20T10:00:00Z' })
  await shop.check()
  const starts = (await shop.reached()).map(({ percent, periodStart }) => [
    percent,
    iso(periodStart),
  ])
  expect(starts.toSorted()).toEqual([
    [100, '2026-03-01T10:00:00.000Z'],
    [80, '2026-03-01T10:00:00.000Z'],
    [80, '2026-04-01T10:00:00.000Z'],
  ])
})

test('does not compare usage for a provider without alerts, nor usage before its first alert', async () => {
  const { customerRef } = await shop.buy(limited)
  await shop.use(customerRef, 900)
  await shop.check()
  await shop.alert([{ percent: 80 }])
  await shop.check()
  expect(await shop.reached()).toEqual([])
  await shop.use(customerRef, 1)
  await shop.check()
  expect(await brief()).toEqual([['threshold_reached', 'requests', 80, 800, 901]])
})

test('compares an alert of a customer at once', async () => {
  const { customerRef } = await shop.buy(limited)
  await shop.use(customerRef, 900)
  await shop.check()
  await shop.alert([{ percent: 80 }], { customerRef })
  await shop.check()
  expect(await brief()).toEqual([['threshold_reached', 'requests', 80, 800, 900]])
})

test('watches included units, windows of a day, and rolling windows of a plan with charges', async () => {
  // Hot state keeps the usage of windows by the clock of the machine.
  await shop.open(new Date().toISOString())
  const { customerRef } = await shop.buy(charged)
  await shop.alert([{ percent: 50 }])
  await shop.use(customerRef, 60, { meterName: 'tokens' })
  await shop.use(customerRef, 10)
  await shop.check()
  expect(await brief()).toEqual(
    [
      ['threshold_reached', 'daily', 50, 5, 10],
      ['threshold_reached', 'burst', 50, 10, 10],
      ['limit_reached', 'daily', 100, 10, 10],
      ['threshold_reached', 'tokens', 50, 50, 60],
    ].toSorted(byLimit),
  )
})

function byLimit(one: unknown[], other: unknown[]): number {
  const order = ['daily', 'burst', 'tokens']
  return order.indexOf(one[1] as string) - order.indexOf(other[1] as string)
}

test('emits a rolling window again only after its length', async () => {
  // Hot state drops usage that is older than the window by the clock of the machine.
  const startMs = Date.now() - 45_000
  await shop.open(new Date(startMs).toISOString())
  const { customerRef } = await shop.buy(charged)
  await shop.alert([{ percent: 100 }], { limitKey: 'burst' })
  const burst = async (afterSeconds: number, units: number) => {
    shop.stack.runner.clock.set(new Date(startMs + afterSeconds * 1_000).toISOString())
    await shop.use(customerRef, units)
    await shop.check()
    return (await shop.reached()).length
  }
  expect(await burst(0, 20)).toBe(1)
  expect(await burst(30, 5)).toBe(1)
  expect(await burst(55, 30)).toBe(1)
  expect(await burst(61, 1)).toBe(2)
})

test('emits an ended day with its own date', async () => {
  const { customerRef } = await shop.buy(charged)
  await shop.use(customerRef, 56)
  await shop.alert([{ percent: 100 }], { limitKey: 'daily', customerRef })
  shop.stack.runner.clock.set('2026-03-03T00:00:05Z')
  await shop.use(customerRef, 10, { at: '2026-03-02T23:59:58Z' })
  await shop.check()
  const days = (await shop.reached()).filter(({ limit }) => limit === 'daily')
  expect(days.map(({ periodStart, value }) => [iso(periodStart), value])).toEqual([
    ['2026-03-02T00:00:00.000Z', 10],
    ['2026-03-01T00:00:00.000Z', 56],
  ])
})

describe('the most specific alert', () => {
  test('applies: of the customer, of the plan, then the default', async () => {
    const { customerRef, planRef } = await shop.buy(limited)
    const other = await shop.buy(limited)
    const third = await shop.buy({ ...limited, name: 'Own alert' })
    await shop.alert([{ percent: 10 }])
    await shop.alert([{ percent: 20 }], { planRef: third.planRef })
    await shop.alert([], { customerRef })
    expect(planRef).not.toBe(third.planRef)
    for (const each of [customerRef, other.customerRef, third.customerRef]) {
      await shop.use(each, 500)
    }
    await shop.check()
    const events = (await shop.reached()).map(({ customer, percent }) => [customer, percent])
    expect(new Map(events as [string, number][])).toEqual(
      new Map([
        [other.customerRef, 10],
        [third.customerRef, 20],
      ]),
    )
  })
})

test('never sends one provider events about the customers of another', async () => {
  const { customerRef } = await shop.buy(limited)
  await shop.alert([{ percent: 10 }])
  const mine = shop.shop
  await shop.open('2026-03-01T10:00:00Z')
  const { customerRef: theirs } = await shop.buy(limited)
  await shop.use(theirs, 900)
  await shop.check()
  expect(await shop.reached()).toEqual([])
  await shop.stack.record(mine, [
    { customerRef, micros: 900_000_000n, at: new Date('2026-03-01T10:00:00Z') },
  ])
  await shop.untilStored()
  await shop.check()
  expect(await shop.reached()).toEqual([])
  expect(await shop.sql`select distinct provider_id from alert_firings`).toContainEqual({
    provider_id: mine.providerId,
  })
})

function iso(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString()
}
