import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce } from '@tollgate/billing-runner/jobs/run-once'
import { publisherOf, type Parts } from '@tollgate/billing-runner/open-parts'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { CrashingProcess, databaseOf, hotStateOf } from '../money/crashing-process.ts'
import { deliverPack, packUnitsOf } from './add-pack.ts'
import { metered, ThresholdShop } from './threshold-shop.ts'

/* A process dies once at each of its effects, and another one does its work again: one crossing makes one invoice. */

const shop = await ThresholdShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

const limited = { ...metered, maxUnbilledMinor: 2_000 }

/** Plays the story once for each effect with a death there, and once without a death. Returns the effects. */
async function crashAtEachStep(
  story: (life: CrashingProcess) => Promise<void>,
): Promise<readonly string[]> {
  for (let atStep = 1; ; atStep += 1) {
    const life = new CrashingProcess({ atStep, sendsPendingCall: false })
    await story(life)
    if (!life.hasCrashed) return life.steps
  }
}

/** Runs the job in a process that may die. The claims of a dead process end at once. */
async function billIn(life: CrashingProcess, at: string): Promise<void> {
  const { runner } = shop
  runner.clock.set(at)
  const limits = { ...runner.config({ TOLLGATE_BILLING_TRIES_MAX: '1' }), claimLeaseMs: 0 }
  const database = databaseOf(life, runner.database)
  const hotState = hotStateOf(life, runner.hotState)
  const parts: Parts = { ...runner.parts, database, hotState, charge: shop.paying }
  const { job } = createJobs(limits, parts).find(
    ({ job: { name } }) => name === 'threshold-billing',
  )!
  const slotParts = { publisher: publisherOf(parts), logger: parts.logger, limits }
  const never = new AbortController().signal
  await runOnce(slotParts, job, 'sandbox', never, () => undefined).catch((error: unknown) => {
    if (!life.hasCrashed) throw error
  })
}

async function buyAndUse(units: number): Promise<Purchase> {
  shop.runner.clock.set('2026-03-01T10:00:00Z')
  const purchase = await shop.alerts.buy(limited)
  await shop.use(purchase, units, '2026-03-05T00:00:00Z')
  return purchase
}

async function expectOneBill(purchase: Purchase, message: string): Promise<void> {
  expect(await shop.amountsOf(purchase), message).toEqual([[1_202n]])
  const invoices = await shop.invoicesOf(purchase)
  expect(
    invoices.map(({ status }) => status),
    message,
  ).toEqual(['paid'])
  expect(await shop.crossings(), message).toBe(0)
}

test('a measurement that dies is repeated', { timeout: 300_000 }, async () => {
  const steps = await crashAtEachStep(async (life) => {
    const purchase = await buyAndUse(801)
    await shop.measure('2026-03-05T00:01:00Z', life)
    await shop.measureAndBill('2026-03-05T00:01:00Z')
    await shop.measureAndBill('2026-03-05T00:02:00Z')
    await expectOneBill(purchase, String(life.steps.at(-1)))
  })
  expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(1)
})

test(
  'a bill of which a process dies is made once, and the rest is priced after it',
  { timeout: 300_000 },
  async () => {
    const steps = await crashAtEachStep(async (life) => {
      const purchase = await buyAndUse(851)
      await deliverPack(shop, purchase, { units: 50 })
      await shop.measure('2026-03-05T00:01:00Z')
      await billIn(life, '2026-03-05T00:02:00Z')
      await billIn(new CrashingProcess(), '2026-03-05T00:03:00Z')
      // An invoice that was issued before the death is charged by the retries.
      await shop.runner.runJob('payment-retries', '2026-03-06T00:00:00Z', shop.paying)
      await expectOneBill(purchase, String(life.steps.at(-1)))
      expect(await packUnitsOf(shop, purchase)).toEqual([{ used: 50, taken: 0 }])
      await shop.use(purchase, 101, '2026-03-10T00:00:00Z')
      await shop.billPeriods('2026-04-01T11:00:00Z')
      expect(await shop.amountsOf(purchase)).toEqual([[1_202n], [151n]])
    })
    expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(3)
  },
)
