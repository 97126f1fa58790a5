import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { openParts, paymentPartsOf } from '@tollgate/billing-runner/open-parts'
import { listUnbalancedCreditValues } from '@tollgate/domain/money-ledger/unbalanced'
import { pollEvents } from '@tollgate/domain/settlement/poll-events'
import { processInbox } from '@tollgate/domain/settlement/process-inbox'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { BalanceBody } from '@tollgate/schemas/http/credits'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, PaymentStack } from '../payments/payment-stack.ts'
import { environment } from './environment.ts'

/*
 * The control plane is killed while it takes back the credits of refunds and while it restores them: between the hold in hot state
 * and the commit, and between the commit and the publication.
 */

const customersMax = 16
const program = fileURLToPath(
  new URL('../../../control-plane/dist/bundled/main.js', import.meta.url),
)

let payments: PaymentStack
let child: ChildProcess | undefined

beforeAll(async () => {
  // This stack sets up the shop and processes no payments.
  const settings = {
    TOLLGATE_PAYMENTS_INTERVAL_MS: '3600000',
    TOLLGATE_PROCESSOR_POLL_SECONDS: '86400',
  }
  payments = await PaymentStack.start({ settings })
  payments.stack.clock.set(new Date().toISOString())
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await payments.stop()
})

const sql = () => payments.stack.database.in(environment)

function serviceSettings(): Record<string, string> {
  const { stack, simulator } = payments
  return {
    TOLLGATE_DATA_DIR: stack.folder,
    TOLLGATE_DATABASE_URL: stack.databaseUrl,
    TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
    TOLLGATE_LOG_PARTITIONS: '4',
    TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1',
  }
}

function startService(): ChildProcess {
  const started = fork(program, [], {
    // The Node options of a Vitest worker are not inherited, because they resolve packages to their sources.
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      ...serviceSettings(),
      TOLLGATE_LOG_LEVEL: 'error',
      TOLLGATE_CONTROL_PLANE_PORT: '0',
      TOLLGATE_PAYMENTS_INTERVAL_MS: '20',
      TOLLGATE_PROCESSOR_POLL_SECONDS: '86400',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child = started
  return started
}

/** Reads the refunds from the processor without processing them. */
async function hearOfRefunds(): Promise<void> {
  const { clock, database, hotState, eventLog } = payments.stack
  const config = readBillingRunnerConfig(serviceSettings())
  const logger = createLogger('billing-runner', 'silent')
  const parts = await openParts(config, { clock, database, hotState, eventLog, logger })
  try {
    const jobParts = paymentPartsOf(config, parts)
    await sql()`update processor_event_polls set due_at = ${new Date(0)}`
    await pollEvents(jobParts, environment, 1_000)
    while (await processInbox(jobParts, environment));
  } finally {
    await parts.close()
  }
}

async function topUp(customerRef: string): Promise<string> {
  const asked = { customerRef, purpose: 'credit_topup', amount: 1_000, currency: 'USD' }
  const { body } = await payments.createIntent(`taken-${customerRef}`, asked)
  const id = body.processorPaymentId
  await payments.confirm(id, 'pm_card_bypassPending')
  const done = await payments.process<ProcessedPaymentBody>(id, customerRef)
  expect(done.body.status).toBe('succeeded')
  return id
}

async function countDone(): Promise<number> {
  const [row] = await sql()<[{ count: number }]>`
    select count(*)::int as count from credit_take_backs where due_at is null`
  return row.count
}

/** Starts services that are killed during the work, and one that completes it. */
async function killWhileItIsDone(): Promise<void> {
  for (const wanted of [1, 8]) {
    const victim = startService()
    await eventually(async () => expect(await countDone()).toBeGreaterThanOrEqual(wanted), 60_000)
    const gone = once(victim, 'exit')
    victim.kill('SIGKILL')
    await gone
  }
  startService()
  await eventually(async () => {
    // Simulate half a minute, after which other processes take over the work of dead ones.
    await sql()`
      update credit_take_backs set due_at = now() - interval '1 second'
      where due_at > now() + interval '5 seconds'`
    expect(await countDone()).toBe(customersMax)
    expect(await sql()`select 1 from publications`).toHaveLength(0)
  }, 120_000)
  const gone = once(child!, 'exit')
  child!.kill('SIGKILL')
  await gone
}

async function expectCredits(customers: readonly string[], credits: number): Promise<void> {
  for (const customerRef of customers) {
    const path = `/v1/sdk/customers/${customerRef}/balance`
    expect((await payments.call<BalanceBody>('GET', path)).body.credits).toBe(credits)
  }
  expect(await listUnbalancedWallets(sql(), 9)).toEqual([])
  expect(await listUnbalancedCreditValues(sql(), 9)).toEqual([])
}

test(
  'debits the credits of refunds once, and returns them once',
  { timeout: 600_000 },
  async () => {
    const customers: string[] = []
    const refunds: string[] = []
    for (let made = 0; made < customersMax; made += 1) {
      const customerRef = await payments.createCustomer()
      const paymentId = await topUp(customerRef)
      const part = { payment_intent: paymentId, amount: '400' }
      customers.push(customerRef)
      refunds.push((await payments.stripe('POST', 'refunds', part)).body.id)
    }
    await hearOfRefunds()
    await killWhileItIsDone()
    await expectCredits(customers, 60_000)

    for (const id of refunds) await payments.simulate(`refunds/${id}/end`, { status: 'failed' })
    await hearOfRefunds()
    expect(await countDone()).toBe(0)
    await killWhileItIsDone()
    await expectCredits(customers, 100_000)
  },
)
