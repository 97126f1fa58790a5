import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { expect, test, vi } from 'vitest'
import { postPaid, UsageShop } from './usage-shop.ts'

const usageShop = new UsageShop()
const main = createRequire(import.meta.url).resolve('../../../billing-runner/dist/bundled/main.js')
const dayMs = 86_400_000

test('bills each period once while runners are killed', { timeout: 300_000 }, async () => {
  const ago = (days: number): string => new Date(Date.now() - days * dayMs).toISOString()
  usageShop.runner.clock.set(ago(40))
  const plan = await usageShop.runner.addPlan(usageShop.shop, { ...postPaid, freeUnits: 0 })
  const purchases: Purchase[] = []
  for (let made = 0; made < 120; made += 1)
    purchases.push(await usageShop.runner.buy(usageShop.shop, plan))
  usageShop.runner.clock.set(ago(20))
  for (const purchase of purchases) await usageShop.useLate(purchase, 100, ago(20))
  const settings = {
    TOLLGATE_SCHEDULE_USAGE_BILLING: '* * * * *',
    TOLLGATE_BILLING_BATCH_ITEMS_MAX: '10',
    TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX: '2',
    TOLLGATE_BILLING_CLAIM_LEASE_MS: '300',
  }
  const emittedEvents = async () => usageShop.runner.events(usageShop.shop, /^usage\.charged$/)
  for (const wanted of [1, 40, 80]) {
    const victim = spawn(process.execPath, [main], {
      env: { ...process.env, ...usageShop.stack.environment(settings) },
      stdio: 'ignore',
    })
    await vi.waitFor(
      async () => expect((await emittedEvents()).length).toBeGreaterThanOrEqual(wanted),
      {
        timeout: 80_000,
        interval: 5,
      },
    )
    victim.kill('SIGKILL')
    await once(victim, 'exit')
  }
  await vi.waitFor(
    async () => {
      await usageShop.bill(new Date().toISOString())
      expect(await emittedEvents()).toHaveLength(purchases.length)
    },
    { timeout: 60_000, interval: 200 },
  )
  const numbers: number[] = []
  for (const purchase of purchases) {
    const invoices = await usageShop.invoicesOf(purchase)
    expect(invoices).toMatchObject([{ totalMinor: 100n }])
    numbers.push(Number(invoices[0]!.number))
  }
  const inOrder = numbers.sort((one, other) => one - other)
  expect(inOrder).toEqual(purchases.map((_, index) => index + 1))
})
