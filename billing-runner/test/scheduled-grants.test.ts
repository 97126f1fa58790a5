import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteCustomer } from '@tollgate/domain/deletion/delete-customer'
import { createSchedule } from '@tollgate/domain/credit-schedules/create-schedule'
import { dateOf as storedDateOf } from '@tollgate/domain/credit-schedules/dates'
import { moveSchedule } from '@tollgate/domain/credit-schedules/change-schedule'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { CreditScheduleInput } from '@tollgate/schemas/http/credit-schedules'
import { startRunnerStack, type Shop } from './runner-stack.ts'
import { ScheduleWorld, type Death } from './schedule-world.ts'

/* Grants of schedules: their dates, grants after a pause or after a time without a runner, and processes that die between two effects. */

const stack = await startRunnerStack()
afterAll(() => stack.stop())

const dayMs = 86_400_000
const start = Date.parse('2026-01-31T12:00:00Z')
const monthly = { credits: 100, every: { unit: 'month', count: 1 } } as const
const useItOrLoseIt = { ...monthly, expiry: 'next_grant' } as const

let shop: Shop
let plan: Plan
let purchase: Purchase
let world: ScheduleWorld

beforeEach(async () => {
  stack.clock.set(new Date(start).toISOString())
  shop = await stack.openShop()
  plan = await stack.addPlan(shop, { name: 'Monthly', billingCycle: 'monthly', price: 1_900 })
  await openWorld()
})

async function openWorld(): Promise<void> {
  purchase = await stack.buy(shop, plan)
  world = new ScheduleWorld(stack, shop, purchase.customerRef, start)
  await world.openWallet()
}

function at(iso: string): void {
  world.nowMs = Date.parse(iso)
}

async function dates(): Promise<string[]> {
  const grants = await world.grants()
  return grants.map(({ dueAt, outcome }) => `${dueAt.toISOString().slice(0, 10)} ${outcome}`)
}

describe('the dates of a schedule', () => {
  test.each([
    ['2026-01-31T12:00:00Z', 'month', 1, 'UTC', ['2026-02-28T12:00', '2026-03-31T12:00']],
    // Local noon, before and after the clock change of 8 March.
    [
      '2026-03-07T17:00:00Z',
      'day',
      1,
      'America/New_York',
      ['2026-03-08T16:00', '2026-03-09T16:00'],
    ],
    // 02:30 does not exist on 8 March.
    [
      '2026-03-07T07:30:00Z',
      'day',
      1,
      'America/New_York',
      ['2026-03-08T07:30', '2026-03-09T06:30'],
    ],
    // The last day of the local month: 31 January in Auckland is still the 30th in UTC.
    [
      '2026-01-30T12:00:00Z',
      'month',
      1,
      'Pacific/Auckland',
      ['2026-02-27T12:00', '2026-03-30T12:00'],
    ],
    ['2026-01-31T12:00:00Z', 'week', 2, 'UTC', ['2026-02-14T12:00', '2026-02-28T12:00']],
  ] as const)('from %s every %s (%d) in %s', async (from, unit, count, timeZone, expected) => {
    const counted = { countedFrom: new Date(from), every: { unit, count }, timeZone }
    const sql = stack.database.in('sandbox')
    for (const [index, date] of expected.entries()) {
      const found = await storedDateOf(sql, counted, index + 1)
      expect(found.toISOString().slice(0, 16)).toBe(date)
    }
  })
})

test('grants are given on their dates, and the last one ends the schedule', async () => {
  await world.create({ ...monthly, grantsMax: 3 })
  expect(await world.run()).toBe('done')
  expect(await world.run()).toBe('nothing')
  at('2026-02-28T12:00:00Z')
  await world.run()
  expect(await world.balance()).toBe(200)
  at('2026-06-01T00:00:00Z')
  await world.run()
  expect(await dates()).toEqual(['2026-01-31 granted', '2026-02-28 granted', '2026-03-31 granted'])
  expect(await world.schedule()).toMatchObject({ status: 'ended', endReason: 'completed' })
})

test('unused credits roll over up to the maximum', async () => {
  await world.create({ ...useItOrLoseIt, rollOverMax: 50 })
  await world.run()
  await world.spend(30)
  at('2026-02-28T12:00:00Z')
  await world.run()
  expect(await world.balance()).toBe(150)
  await world.spend(140)
  at('2026-03-31T12:00:00Z')
  await world.run()
  expect(await world.balance()).toBe(110)
})

test('missed grants are given with their own expiry, and lapse if it has passed', async () => {
  await world.create({ ...monthly, expiry: { days: 40 } })
  at('2026-04-30T12:00:00Z')
  await world.run()
  expect(await dates()).toEqual([
    ...['2026-01-31 lapsed', '2026-02-28 lapsed', '2026-03-31 granted', '2026-04-30 granted'],
  ])
  at('2026-05-10T12:00:00Z')
  expect(await world.balance()).toBe(100)
})

test('many missed grants are given in several runs', async () => {
  await world.create({ ...monthly, every: { unit: 'day', count: 1 } })
  at('2026-02-09T12:00:00Z')
  expect(await world.run(undefined, 4)).toBe('postponed')
  expect(await world.run(undefined, 4)).toBe('postponed')
  expect(await world.run(undefined, 4)).toBe('done')
  expect(await world.balance()).toBe(1_000)
})

test('dates within a pause are passed over and do not count', async () => {
  await world.create({ ...monthly, grantsMax: 2 })
  await world.run()
  await world.move('pause')
  at('2026-04-01T00:00:00Z')
  await world.run()
  await world.move('resume')
  await world.move('resume')
  await world.run()
  expect(await dates()).toEqual(['2026-01-31 granted'])
  at('2026-05-01T00:00:00Z')
  await world.run()
  expect(await dates()).toEqual(['2026-01-31 granted', '2026-04-30 granted'])
  expect(await world.move('resume')).toEqual({ kind: 'ended' })
})

describe('a process that dies', () => {
  const deaths = [1, 2, 3, 4, 5, 6, 7].flatMap((transaction): Death[] => [
    { transaction, when: 'before' },
    { transaction, when: 'after' },
  ])

  test.each(deaths)(
    '$when the commit of transaction $transaction gives each grant once',
    async (death) => {
      await world.create({
        ...useItOrLoseIt,
        rollOverMax: 1_000,
        every: { unit: 'day', count: 20 },
      })
      await world.run()
      await world.spend(60)
      world.nowMs = start + 20 * dayMs
      // Two dates lapse, and the third gives what has rolled over.
      world.nowMs = start + 3 * 20 * dayMs
      await world.run(death)
      await world.publish()
      await world.run()
      expect(await world.balance()).toBe(40 + 3 * 100)
      expect((await world.grants()).map(({ outcome }) => outcome)).toEqual([
        ...['granted', 'lapsed', 'lapsed', 'granted'],
      ])
      expect(await listUnbalancedWallets(stack.database.in('sandbox'), 9)).toEqual([])
    },
  )
})

describe('a schedule of a purchase', () => {
  beforeEach(async () => {
    // The first period of the purchase ends on 28 February.
    await setPurchase({ status: 'active', next_billing_date: '2026-02-28T12:00:00Z' })
    await world.create({ ...monthly, purchaseRef: purchase.reference })
    await world.run()
  })

  async function setPurchase(row: Record<string, string | null>): Promise<void> {
    const now = new Date(world.nowMs)
    await stack.database.in('sandbox')`
      update purchases set ${stack.database.in('sandbox')({ ...row, auto_renew: true, updated_at: now })}
      where reference = ${purchase.reference}`
  }

  const isDue = async (): Promise<boolean> => {
    const { lookAt } = await world.schedule()
    return lookAt !== null && lookAt.getTime() <= world.nowMs
  }

  test('waits for the renewal of the purchase, then gives the grant', async () => {
    at('2026-02-28T12:00:00Z')
    await world.run()
    expect(await world.balance()).toBe(100)
    expect(await isDue()).toBe(false)
    await setPurchase({ status: 'past_due' })
    await world.run()
    expect(await world.balance()).toBe(100)
    at('2026-03-02T08:00:00Z')
    await setPurchase({ status: 'active', next_billing_date: '2026-03-31T12:00:00Z' })
    expect(await isDue()).toBe(true)
    await world.run()
    expect(await world.balance()).toBe(200)
    expect(await dates()).toEqual(['2026-01-31 granted', '2026-02-28 granted'])
  })

  test('gives nothing while the purchase is suspended', async () => {
    await setPurchase({ status: 'suspended', next_billing_date: null })
    at('2026-03-01T00:00:00Z')
    await world.run()
    expect(await world.balance()).toBe(100)
    await setPurchase({ status: 'active' })
    await world.run()
    expect(await world.balance()).toBe(200)
  })

  test('ends with the purchase, whose credits stay', async () => {
    await setPurchase({ status: 'cancelled' })
    expect(await isDue()).toBe(true)
    await world.run()
    expect(await world.schedule()).toMatchObject({ endReason: 'purchase_ended', nextAt: null })
    expect(await world.balance()).toBe(100)
  })

  test('ends with the refund of the purchase, and so do the credits, also while it is paused', async () => {
    await world.move('pause')
    await setPurchase({ status: 'refunded' })
    expect(await isDue()).toBe(true)
    await world.run()
    expect(await world.balance()).toBe(0)
    expect(await world.schedule()).toMatchObject({ endReason: 'purchase_ended' })
  })
})

test('the deletion of the customer ends the schedule', async () => {
  await world.create({ ...monthly, reason: 'For Ada' })
  await world.commit((work) => deleteCustomer(work, world.customerRef))
  at('2026-04-01T00:00:00Z')
  expect(await world.run()).toBe('nothing')
  expect(await world.schedule()).toMatchObject({ endReason: 'customer_deleted', reason: null })
  expect(await world.grants()).toEqual([])
})

describe('a request', () => {
  const outcomeOf = (input: CreditScheduleInput) =>
    world.commit((work) => createSchedule(work, world.customerRef, input))

  test('with a known key returns the first schedule, and refuses other terms', async () => {
    const first = await world.create(monthly, `key ${world.customerRef}`)
    expect(await world.create(monthly, `key ${world.customerRef}`)).toBe(first)
    const other = { ...monthly, credits: 5 }
    await expect(world.create(other, `key ${world.customerRef}`)).rejects.toThrow('key-reused')
  })

  test.each([
    ['startsAt', { startsAt: '2026-01-30T00:00:00Z' }],
    ['endsAt', { endsAt: '2026-01-31T12:00:00Z' }],
    ['rollOverMax', { rollOverMax: 5 }],
  ])('with a wrong %s is refused', async (field, wrong) => {
    expect(await outcomeOf({ ...monthly, ...wrong })).toMatchObject({
      ...{ kind: 'invalid', issues: [{ path: [field] }] },
    })
  })

  test('is refused for a purchase that is unknown or of another customer, and for a schedule of another customer', async () => {
    const { reference } = purchase
    const scheduleRef = await world.create(monthly)
    await openWorld()
    for (const purchaseRef of [reference, 'pur_unknown']) {
      expect(await outcomeOf({ ...monthly, purchaseRef })).toEqual({
        ...{ kind: 'purchase-not-found', purchaseRef },
      })
    }
    const name = { customerRef: world.customerRef, reference: scheduleRef }
    const moved = await world.commit((work) => moveSchedule(work, name, 'end'))
    expect(moved).toEqual({ kind: 'not-found' })
    const other = await stack.openShop()
    const fromOther = await stack.within(other, (work) =>
      moveSchedule(work, { ...name, customerRef: purchase.customerRef }, 'end'),
    )
    expect(fromOther).toEqual({ kind: 'not-found' })
  })
})
