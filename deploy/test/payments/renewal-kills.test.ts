import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* Billing runners are killed while they charge cards, at a processor that does not always answer. */

const main = fileURLToPath(
  new URL('../../../billing-runner/dist/bundled/cli/main.js', import.meta.url),
)
const customers = 24
const renewalAt = '2026-03-01T10:00:00Z'

const alive = new Set<ChildProcess>()

const stack = await RenewalStack.start()
afterAll(async () => {
  for (const child of alive) child.kill('SIGKILL')
  await stack.stop()
})

function startRun(job: string): ChildProcess {
  const request = ['billing', 'run', '--job', job, '--at', renewalAt, '--environment', 'sandbox']
  const child = spawn(process.execPath, [main, ...request], {
    env: {
      PATH: process.env['PATH'],
      ...stack.runnerEnvironment({
        TOLLGATE_BILLING_BATCH_ITEMS_MAX: '8',
        TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX: '3',
        TOLLGATE_BILLING_CLAIM_LEASE_MS: '300',
      }),
    },
    stdio: 'ignore',
  })
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  return child
}

/** Arms the kinds of faults one after the other, each for one call that creates a payment. */
async function armFaults(): Promise<void> {
  const call = { method: 'POST', path: '/v1/payment_intents' }
  for (const kind of ['reset_after', 'error_after', 'error_before', 'reset_before']) {
    await stack.payments.simulate('faults', { ...call, kind, times: 1 })
  }
  // Slow calls make it likely that a kill happens during a call.
  await stack.payments.simulate('faults', { ...call, kind: 'slow', delayMs: 150, times: customers })
}

async function attempts(): Promise<number> {
  const [row] = await stack.sql<[{ count: number }]>`
    select count(*)::int as count from payment_attempts
    join payment_intents on payment_intents.reference = payment_attempts.intent_ref
    where invoice_ref is not null`
  return row.count
}

test(
  'leave one charge per invoice, one renewal per purchase, and no unfinished work',
  { timeout: 300_000 },
  async () => {
    stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
    const plan = { price: 1900, billingCycle: 'monthly' }
    const planRef = await stack.payments.createPlan(plan)
    const purchases: Purchase[] = []
    while (purchases.length < customers) {
      purchases.push(...(await Promise.all([1, 2, 3, 4].map(() => stack.buy(planRef)))))
    }
    stack.payments.stack.clock.set(renewalAt)
    await armFaults()
    for (const wanted of [1, 7, 13, 19]) {
      const victim = startRun('renewals')
      await eventually(async () => expect(await attempts()).toBeGreaterThanOrEqual(wanted), 60_000)
      victim.kill('SIGKILL')
      if (victim.exitCode === null && victim.signalCode === null) await once(victim, 'exit')
      expect(victim.signalCode).toBe('SIGKILL')
    }

    await eventually(async () => {
      await stack.runJob('renewals', renewalAt)
      for (const { reference } of purchases) {
        expect((await stack.purchase(reference)).nextBillingDate).toEqual(
          new Date('2026-03-31T12:00:00Z'),
        )
      }
    }, 120_000)
    await stack.runJob('payment-retries', '2026-03-01T11:00:00Z')
    for (const { reference, customerRef } of purchases) {
      const invoices = await stack.invoicesOf(reference)
      expect(invoices).toMatchObject([{ status: 'paid', totalMinor: 1_900n, paidMinor: 1_900n }])
      expect(await stack.succeededChargesOf(reference)).toBe(1)
      const events = await stack.payments.eventsOf(customerRef)
      expect(events.filter((type) => type === 'purchase.renewed')).toHaveLength(1)
      // One event is for the purchase and one for its renewal.
      expect(events.filter((type) => type === 'payment.succeeded')).toHaveLength(2)
    }
    const unsettled = await stack.sql`
      select 1 from payment_attempts where outcome in ('sent', 'unknown')`
    expect(unsettled).toHaveLength(0)
    const unbalanced = await stack.sql`
      select transaction_ref from ledger_entries group by transaction_ref, unit having sum(amount) <> 0`
    expect(unbalanced).toHaveLength(0)
    const [receivable] = await stack.sql<[{ sum: string | null }]>`
      select sum(amount)::text from ledger_entries where account = 'receivable'`
    expect(Number(receivable.sum)).toBe(0)
  },
)
