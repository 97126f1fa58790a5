import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { countRuns, listRuns } from '@tollgate/domain/calendar/runs'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { BillingRunner } from '../src/service.ts'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

/* Tests that work is done once with a schedule, several runners and crashes. */

const patience = { timeout: 20_000, interval: 50 }

let stack: RunnerStack
let shop: Shop
const running: BillingRunner[] = []

beforeAll(async () => {
  stack = await startRunnerStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
  return async () => {
    for (const runner of running.splice(0)) await runner.stop()
    await stack.database.in('sandbox')`delete from job_slots`
  }
})

async function startRunner(settings: Record<string, string>): Promise<BillingRunner> {
  const runner = stack.createRunner(settings)
  running.push(runner)
  await runner.start()
  return runner
}

async function buyMany(count: number): Promise<Purchase[]> {
  const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'monthly' })
  return Promise.all(Array.from({ length: count }, () => stack.buy(shop, plan)))
}

async function renewed(): Promise<unknown[]> {
  const events = await stack.events(shop, /^purchase\.renewed$/)
  return events.map(({ object }) => object['reference'])
}

const references = (purchases: readonly Purchase[]) =>
  purchases.map(({ reference }) => reference).sort()

/** Waits until exactly these slots exist and have ended. */
async function untilEnded(...slots: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    const rows = await stack.database.in('sandbox')<{ slot: Date; ended_at: Date | null }[]>`
      select slot, ended_at from job_slots order by slot`
    const ended = rows.filter((row) => row.ended_at !== null)
    expect(ended.map(({ slot }) => slot.toISOString())).toEqual(slots)
    expect(rows).toHaveLength(slots.length)
  }, patience)
}

describe('the schedule', () => {
  const settings = { TOLLGATE_SCHEDULE_RENEWALS: '0 10 * * *' }

  test('runs a slot once, at its time', async () => {
    const purchases = await buyMany(1)
    stack.clock.set('2026-03-01T09:59:59.999Z')
    await startRunner(settings)
    // The slot of the previous day is caught up at start.
    await vi.waitFor(async () => expect(await renewed()).toEqual(references(purchases)), patience)
    stack.clock.set('2026-03-31T10:30:00Z')
    await untilEnded('2026-02-28T10:00:00.000Z', '2026-03-31T10:00:00.000Z')
    expect(await renewed()).toHaveLength(1)
  })

  test('reports its runs in metrics and health', async () => {
    await buyMany(1)
    stack.clock.set('2026-03-01T10:00:05Z')
    const { adminPort } = await startRunner(settings)
    const admin = `http://127.0.0.1:${adminPort}`
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${admin}/metrics`)).text()
      expect(metrics).toMatch(
        /tollgate_billing_items_total\{job="renewals",space="sandbox",outcome="done"[^}]*\} 1\n/,
      )
      expect(metrics).toMatch(
        /tollgate_billing_lag_seconds\{job="renewals",space="sandbox"[^}]*\} 0\n/,
      )
    }, patience)
    expect((await fetch(`${admin}/health/ready`)).status).toBe(200)
  })
})

test('three runners share the items of one slot and process none twice', async () => {
  const purchases = await buyMany(60)
  stack.clock.set('2026-03-01T10:00:00Z')
  const settings = {
    TOLLGATE_SCHEDULE_RENEWALS: '0 10 * * *',
    TOLLGATE_BILLING_BATCH_ITEMS_MAX: '5',
  }
  await Promise.all([1, 2, 3].map(() => startRunner(settings)))
  await untilEnded('2026-03-01T10:00:00.000Z')
  expect((await renewed()).sort()).toEqual(references(purchases))
  const [run] = await listRuns(stack.database.in('sandbox'), shop.providerId, {
    job: 'renewals',
    rowsMax: 10,
    offset: 0,
  })
  expect(run).toMatchObject({ slot: new Date('2026-03-01T10:00:00Z'), done: 60, failed: 0 })
  expect(await countRuns(stack.database.in('sandbox'), shop.providerId, undefined)).toBe(1)
})

test('an item that keeps failing delays no other, is reported, and is retried by the next slot', async () => {
  const [broken, ...others] = await buyMany(8)
  const pool = stack.database.in('sandbox')
  const breakIt = (cycle: string) => pool`
    update purchases set billing_cycle = ${cycle} where reference = ${broken!.reference}`
  await breakIt('fortnightly')
  stack.clock.set('2026-03-01T10:00:00Z')
  await startRunner({
    TOLLGATE_SCHEDULE_RENEWALS: '0 10 * * *',
    TOLLGATE_BILLING_BATCH_ITEMS_MAX: '3',
    TOLLGATE_BILLING_TRIES_MAX: '2',
    TOLLGATE_BILLING_RETRY_PAUSE_MS: '50',
  })
  await untilEnded('2026-03-01T10:00:00.000Z')
  expect((await renewed()).sort()).toEqual(references(others))
  const page = { job: undefined, rowsMax: 10, offset: 0 }
  expect(await listRuns(pool, shop.providerId, page)).toEqual([
    expect.objectContaining({ done: 7, failed: 1, failure: expect.any(String) as string }),
  ])
  await breakIt('monthly')
  stack.clock.set('2026-03-02T10:00:00Z')
  await vi.waitFor(async () => expect(await renewed()).toHaveLength(8), patience)
})

test(
  'killed runners leave no item unprocessed, and none is processed twice',
  { timeout: 300_000 },
  async () => {
    stack.clock.set(new Date(Date.now() - 40 * 86_400_000).toISOString())
    const purchases = await buyMany(300)
    const settings = {
      TOLLGATE_SCHEDULE_RENEWALS: '* * * * *',
      TOLLGATE_BILLING_BATCH_ITEMS_MAX: '20',
      TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX: '2',
      TOLLGATE_BILLING_CLAIM_LEASE_MS: '300',
    }
    for (const wanted of [1, 100, 200]) {
      const victim = spawn(process.execPath, [main], {
        env: { ...process.env, ...stack.environment(settings) },
        stdio: 'ignore',
      })
      await vi.waitFor(
        async () => expect((await renewed()).length).toBeGreaterThanOrEqual(wanted),
        { timeout: 90_000, interval: 5 },
      )
      victim.kill('SIGKILL')
      await once(victim, 'exit')
    }
    stack.clock.set(new Date().toISOString())
    await startRunner(settings)
    await vi.waitFor(
      async () => {
        expect(new Set(await renewed()).size).toBe(300)
        expect(await claims()).toBe(0)
      },
      { ...patience, timeout: 60_000 },
    )
    expect((await renewed()).sort()).toEqual(references(purchases))
  },
)

async function claims(): Promise<number> {
  return (await stack.database.in('sandbox')`select 1 from job_claims`).length
}

const main = fileURLToPath(new URL('../dist/bundled/main.js', import.meta.url))
