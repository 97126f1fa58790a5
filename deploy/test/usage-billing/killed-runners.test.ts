import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { expect, test, vi } from 'vitest'
import { postPaid, UsageShop } from './usage-shop.ts'

const of = new UsageShop()
const main = createRequire(import.meta.url).resolve('../../../billing-runner/dist/main.js')
const dayMs = 86_400_000

test('bills each period once while runners are killed', { timeout: 300_000 }, async () => {
  const ago = (days: number): string => new Date(Date.now() - days * dayMs).toISOString()
  of.runner.clock.set(ago(40))
  const plan = await of.runner.addPlan(of.shop, { ...postPaid, freeUnits: 0 })
  const purchases: Purchase[] = []
  for (let made = 0; made < 120; made += 1) purchases.push(await of.runner.buy(of.shop, plan))
  of.runner.clock.set(ago(20))
  for (const purchase of purchases) await of.useLate(purchase, 100, ago(20))
  const settings = {
    TOLLGATE_SCHEDULE_USAGE_BILLING: '* * * * *',
    TOLLGATE_BILLING_BATCH_ITEMS_MAX: '10',
    TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX: '2',
    TOLLGATE_BILLING_CLAIM_LEASE_MS: '300',
  }
  const told = async () => of.runner.events(of.shop, /^usage\.charged$/)
  for (const wanted of [1, 40, 80]) {
    const victim = spawn(process.execPath, [main], {
      env: { ...process.env, ...of.stack.environment(settings) },
      stdio: 'ignore',
    })
    await vi.waitFor(async () => expect((await told()).length).toBeGreaterThanOrEqual(wanted), {
      timeout: 80_000,
      interval: 5,
    })
    victim.kill('SIGKILL')
    await once(victim, 'exit')
  }
  await vi.waitFor(
    async () => {
      await of.bill(new Date().toISOString())
      expect(await told()).toHaveLength(purchases.length)
    },
    { timeout: 60_000, interval: 200 },
  )
  const numbers: number[] = []
  for (const purchase of purchases) {
    const invoices = await of.invoicesOf(purchase)
    expect(invoices).toMatchObject([{ totalMinor: 100n }])
    numbers.push(Number(invoices[0]!.number))
  }
  const inOrder = numbers.sort((one, other) => one - other)
  expect(inOrder).toEqual(purchases.map((_, index) => index + 1))
})
