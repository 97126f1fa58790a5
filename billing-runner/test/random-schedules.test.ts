import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { dateOf as storedDateOf } from '@tollgate/domain/credit-schedules/dates'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { startRunnerStack } from './runner-stack.ts'
import { dateOf, ScheduleModel, type ModelTerms } from './schedule-model.ts'
import { ScheduleWorld } from './schedule-world.ts'

/* Random schedules, changes, pauses, absences and deaths of the runner, compared with an independent model. */

const stack = await startRunnerStack()
afterAll(() => stack.stop())

const hourMs = 3_600_000
const start = Date.parse('2026-01-31T12:00:00Z')
stack.clock.set(new Date(start).toISOString())
const shop = await stack.openShop()
const plan = await stack.addPlan(shop, { name: 'Monthly', billingCycle: 'monthly', price: 1_900 })

async function openWorld(): Promise<ScheduleWorld> {
  const { customerRef } = await stack.buy(shop, plan)
  const world = new ScheduleWorld(stack, shop, customerRef, start)
  await world.openWallet()
  return world
}

const intervals = fc.constantFrom(
  ...([
    { unit: 'day', count: 1 },
    { unit: 'day', count: 10 },
    { unit: 'week', count: 1 },
    { unit: 'month', count: 1 },
    { unit: 'month', count: 3 },
  ] as const),
)
const expiries = fc.constantFrom<ModelTerms['expiry'][]>(
  'never',
  'next_grant',
  'next_grant',
  { days: 3 },
  { days: 45 },
)
const terms: fc.Arbitrary<ModelTerms> = fc
  .record({
    credits: fc.integer({ min: 1, max: 500 }),
    every: intervals,
    timeZone: fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata'),
    grantsMax: fc.option(fc.integer({ min: 1, max: 30 })),
    expiry: expiries,
    rollOverMax: fc.integer({ min: 0, max: 800 }),
  })
  .map((all) => (all.expiry === 'next_grant' ? all : { ...all, rollOverMax: 0 }))

const steps = fc.array(
  fc.record({
    does: fc.constantFrom(
      ...([
        'run',
        'run',
        'spend',
        'spend',
        'pause',
        'resume',
        'change',
        'interval',
        'end',
      ] as const),
    ),
    hours: fc.oneof(fc.integer({ min: 0, max: 72 }), fc.integer({ min: 0, max: 2_400 })),
    amount: fc.integer({ min: 0, max: 400 }),
    every: intervals,
    death: fc.option(
      fc.record({
        transaction: fc.integer({ min: 1, max: 6 }),
        when: fc.constantFrom('before' as const, 'after' as const),
      }),
    ),
  }),
  { minLength: 5, maxLength: 25 },
)

test('random schedules give what an independent model says', { timeout: 0 }, async () => {
  const property = fc.asyncProperty(terms, steps, async (first, all) => {
    const world = await openWorld()
    const { grantsMax, ...input } = first
    await world.create({ ...input, ...(grantsMax === null ? {} : { grantsMax }) })
    const model = new ScheduleModel(first, start)
    for (const { does, hours, amount, every, death } of all) {
      world.nowMs += hours * hourMs
      if (does === 'run') {
        if (death !== null) {
          await world.run(death)
          await world.publish()
        }
        while ((await world.run()) === 'postponed');
        model.run(world.nowMs)
      }
      if (does === 'spend') await world.spend(model.spend(amount, world.nowMs))
      if (does === 'pause' || does === 'resume' || does === 'end') await world.move(does)
      if (does === 'pause') model.pause()
      if (does === 'resume') model.resume(world.nowMs)
      if (does === 'end') model.end()
      if (does === 'change') {
        await world.change({ credits: amount + 1 })
        model.change({ credits: amount + 1 })
      }
      if (does === 'interval') {
        await world.change({ every })
        model.change({ every })
      }
      model.expire(world.nowMs)
      expect(await world.balance()).toBe(model.balance)
      const { status, nextAt } = await world.schedule()
      expect(status).toBe(model.status)
      if (status !== 'ended') expect(nextAt?.getTime()).toBe(model.next)
    }
    expect((await world.grants()).map(({ outcome }) => outcome)).toEqual(model.outcomes)
    expect(await listUnbalancedWallets(stack.database.in('sandbox'), 9)).toEqual([])
  })
  await fc.assert(property, {
    ...randomRuns(12, process.env['TOLLGATE_TEST_CREDIT_SCHEDULES']),
    endOnFailure: true,
  })
})

test('the dates of the model are those of the database', async () => {
  const sql = stack.database.in('sandbox')
  for (const timeZone of ['Europe/Paris', 'America/New_York', 'Asia/Kolkata']) {
    for (const step of [1, 5, 13, 60]) {
      const every = { unit: 'month', count: 1 } as const
      const stored = await storedDateOf(
        sql,
        { countedFrom: new Date(start), every, timeZone },
        step,
      )
      expect(stored.getTime()).toBe(dateOf({ every, timeZone }, start, step))
    }
  }
})
