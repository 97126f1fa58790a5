import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce } from '@tollgate/billing-runner/jobs/run-once'
import { publisherOf, type Parts } from '@tollgate/billing-runner/open-parts'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { expect, test } from 'vitest'
import { databaseOf, Life } from '../money/life.ts'
import { hybrid, UsageShop } from './usage-shop.ts'

/* A price that is charged after the usage, by a process that dies once at each of its effects. */

const of = new UsageShop()
const graceEnd = '2026-03-01T00:00:00Z'

/** One run of the job in a process of its own. What a dead one holds is another's at once. */
async function billUsage(life: Life): Promise<void> {
  const { runner } = of
  runner.clock.set(graceEnd)
  const limits = { ...runner.config({ TOLLGATE_BILLING_TRIES_MAX: '1' }), claimLeaseMs: 0 }
  const database = databaseOf(life, runner.database)
  const parts: Parts = { ...runner.parts, database, charge: of.paying }
  const { job } = createJobs(limits, parts).find((each) => each.job.name === 'usage-billing')!
  const slotParts = { publisher: publisherOf(parts), logger: parts.logger, limits }
  const never = new AbortController().signal
  await runOnce(slotParts, job, 'sandbox', never, () => undefined).catch((error: unknown) => {
    if (!life.isOver) throw error
  })
}

async function buyAndUse(): Promise<Purchase> {
  of.runner.clock.set('2026-01-31T12:00:00Z')
  const purchase = await of.buy({ ...hybrid, billingStrategy: 'usage_first' })
  await of.use(purchase, 100, '2026-02-10T00:00:00Z')
  return purchase
}

test('is charged by the next run of the same day', { timeout: 300_000 }, async () => {
  let steps: readonly string[] = []
  for (let atStep = 1; steps.length === 0; atStep += 1) {
    const purchase = await buyAndUse()
    const life = new Life({ atStep, sendsLast: false })
    await billUsage(life)
    await billUsage(new Life())
    const invoices = await of.invoicesOf(purchase)
    const died = life.isOver ? life.steps.at(-1) : 'never'
    expect(
      invoices.map(({ lines }) => lines.map(({ inputs }) => inputs.kind)),
      `died ${died}, step ${atStep}`,
    ).toEqual([['usage'], ['recurring']])
    expect((await of.now(purchase)).nextBillingDate).toEqual(new Date('2026-03-31T12:00:00Z'))
    if (!life.isOver) steps = life.steps
  }
  expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(3)
})

test('waits for who can charge it, without being looked at again and again', async () => {
  const purchase = await buyAndUse()
  const bill = () => of.runner.runJob('usage-billing', graceEnd)
  expect(await bill()).toEqual(new Map([['postponed', 1]]))
  expect(await bill()).toEqual(new Map([['postponed', 1]]))
  expect(await of.invoicesOf(purchase)).toMatchObject([{ status: 'open' }, { status: 'open' }])
})
