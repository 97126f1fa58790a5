import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce } from '@tollgate/billing-runner/jobs/run-once'
import { publisherOf, type Parts } from '@tollgate/billing-runner/open-parts'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { describe, expect, test } from 'vitest'
import { databaseOf, hotStateOf, CrashingProcess } from '../money/crashing-process.ts'
import { deliverPack, packUnitsOf } from './add-pack.ts'
import { hybrid, postPaid, UsageShop } from './usage-shop.ts'

/* Runs of a job whose process dies once at each of its effects. Another process then does the job again. */

const usageShop = new UsageShop()

/** Runs a job in a separate process. The claims of a dead process expire immediately. */
async function runIn(life: CrashingProcess, name: string, at: string): Promise<void> {
  const { runner } = usageShop
  runner.clock.set(at)
  const limits = { ...runner.config({ TOLLGATE_BILLING_TRIES_MAX: '1' }), claimLeaseMs: 0 }
  const database = databaseOf(life, runner.database)
  const hotState = hotStateOf(life, runner.hotState)
  const parts: Parts = { ...runner.parts, database, hotState, charge: usageShop.paying }
  const { job } = createJobs(limits, parts).find((each) => each.job.name === name)!
  const slotParts = { publisher: publisherOf(parts), logger: parts.logger, limits }
  const never = new AbortController().signal
  await runOnce(slotParts, job, 'sandbox', never, () => undefined).catch((error: unknown) => {
    if (!life.hasCrashed) throw error
  })
}

/** Plays the story once for each effect of the job with a death there, and once without a death. Returns the effects. */
async function crashAtEachStep(
  story: (atStep: number) => Promise<CrashingProcess>,
): Promise<readonly string[]> {
  for (let atStep = 1; ; atStep += 1) {
    const life = await story(atStep)
    if (!life.hasCrashed) return life.steps
  }
}

async function buyAndUse(input: Parameters<UsageShop['buy']>[0], units: number): Promise<Purchase> {
  usageShop.runner.clock.set('2026-01-31T12:00:00Z')
  const purchase = await usageShop.buy(input)
  await usageShop.use(purchase, units, '2026-02-10T00:00:00Z')
  return purchase
}

const usageFirst = { ...hybrid, billingStrategy: 'usage_first' } as const
const graceEnd = '2026-03-01T00:00:00Z'

describe('a price that is charged after the usage', () => {
  test('is charged by the next run on the same day', { timeout: 300_000 }, async () => {
    const steps = await crashAtEachStep(async (atStep) => {
      const purchase = await buyAndUse(usageFirst, 100)
      const life = new CrashingProcess({ atStep, sendsPendingCall: false })
      await runIn(life, 'usage-billing', graceEnd)
      await runIn(new CrashingProcess(), 'usage-billing', graceEnd)
      const invoices = await usageShop.invoicesOf(purchase)
      const kinds = invoices.map(({ lines }) => lines.map(({ inputs }) => inputs.kind))
      expect(kinds, `${atStep}: ${life.steps.at(-1)}`).toEqual([['usage'], ['recurring']])
      const nextBillingDate = new Date('2026-03-31T12:00:00Z')
      expect(await usageShop.now(purchase)).toMatchObject({ nextBillingDate })
      return life
    })
    expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(3)
  })

  test('waits for a runner that can charge, without repeated checks', async () => {
    const purchase = await buyAndUse(usageFirst, 100)
    const bill = () => usageShop.runner.runJob('usage-billing', graceEnd)
    expect(await bill()).toEqual(new Map([['postponed', 1]]))
    expect(await bill()).toEqual(new Map([['postponed', 1]]))
    expect(await usageShop.invoicesOf(purchase)).toMatchObject([
      { status: 'open' },
      { status: 'open' },
    ])
  })
})

describe('unused units of a period', () => {
  const rolling = { ...postPaid, freeUnits: 0, limit: 1_000, rolloverUnusedUnits: true } as const
  const quarter = { ...rolling, billingCycle: 'quarterly' } as const

  async function emittedEvents({ reference }: Purchase): Promise<unknown[]> {
    const events = await usageShop.runner.events(usageShop.shop, /^usage\.reset$/)
    return events
      .filter(({ object }) => JSON.stringify(object).includes(reference))
      .map(({ object }) => object['carriedOverUnits'])
  }

  test('are reported once, with the period that has them', { timeout: 300_000 }, async () => {
    const steps = await crashAtEachStep(async (atStep) => {
      const purchase = await buyAndUse(quarter, 600)
      const life = new CrashingProcess({ atStep, sendsPendingCall: false })
      await runIn(life, 'usage-reset', '2026-04-30T12:00:00Z')
      await runIn(new CrashingProcess(), 'usage-reset', '2026-04-30T12:00:00Z')
      expect(await emittedEvents(purchase), `${atStep}: ${life.steps.at(-1)}`).toEqual([400])
      const carrySettlesAt = new Date('2026-05-30T13:00:00Z')
      expect(await usageShop.now(purchase)).toMatchObject({ carrySettlesAt })
      return life
    })
    expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(2)
  })

  test('are finalized with the usage recorded by then', { timeout: 300_000 }, async () => {
    const steps = await crashAtEachStep(async (atStep) => {
      const purchase = await buyAndUse(quarter, 600)
      await runIn(new CrashingProcess(), 'usage-reset', '2026-04-30T12:00:00Z')
      usageShop.runner.clock.set('2026-05-20T00:00:00Z')
      await usageShop.useLate(purchase, 50, '2026-04-25T00:00:00Z')
      const life = new CrashingProcess({ atStep, sendsPendingCall: false })
      await runIn(life, 'usage-reset', '2026-05-30T13:00:00Z')
      await runIn(new CrashingProcess(), 'usage-reset', '2026-05-30T13:00:00Z')
      const settled = { carriedOverMicros: 350_000_000n, carrySettlesAt: null }
      expect(await usageShop.now(purchase), `${atStep}: ${life.steps.at(-1)}`).toMatchObject(
        settled,
      )
      expect(await emittedEvents(purchase)).toEqual([400])
      return life
    })
    expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(2)
  })
})

describe('packs', () => {
  test('pay for usage once, whenever the process dies', { timeout: 300_000 }, async () => {
    const steps = await crashAtEachStep(async (atStep) => {
      const purchase = await buyAndUse(postPaid, 130)
      await deliverPack(usageShop, purchase, { units: 25 })
      const life = new CrashingProcess({ atStep, sendsPendingCall: false })
      await runIn(life, 'usage-billing', graceEnd)
      await runIn(new CrashingProcess(), 'usage-billing', graceEnd)
      const message = `${atStep}: ${life.steps.at(-1)}`
      expect(await packUnitsOf(usageShop, purchase), message).toEqual([{ used: 25, taken: 0 }])
      const drafts = await usageShop.stack.draftsOf(usageShop.shop, purchase.reference)
      const invoices = [...(await usageShop.invoicesOf(purchase)), ...drafts]
      const amounts = invoices.map(({ lines }) => lines.map(({ amountMinor }) => amountMinor))
      expect(amounts, message).toEqual([[5n]])
      return life
    })
    expect(steps.filter((step) => step === 'after commit').length).toBeGreaterThan(4)
  })
})
