import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, PaymentStack } from '../payments/payment-stack.ts'
import { environment } from './environment.ts'
import { verifyBooks } from './verify-world.ts'

/*
 * Customers pay while the control plane is repeatedly killed at any moment. Webhooks arrive late, shuffled, twice or never, and the
 * processor answers some calls with a fault. Afterwards everything must reach its final state without intervention.
 */

const kills = Number(process.env['TOLLGATE_TEST_MONEY_KILLS'] ?? 2)
const customersMax = 24
const program = fileURLToPath(
  new URL('../../../control-plane/dist/bundled/main.js', import.meta.url),
)

let payments: PaymentStack
let port: number
let secret: string
let child: ChildProcess | undefined

beforeAll(async () => {
  // This stack sets up the shop and processes no payments.
  payments = await PaymentStack.start({ settings: { TOLLGATE_PAYMENTS_INTERVAL_MS: '3600000' } })
  port = await freePort()
  const endpoint = `http://127.0.0.1:${port}/webhooks/stripe/sandbox`
  const wanted = { url: endpoint, 'enabled_events[]': '*' }
  const { body } = await payments.stripe('POST', 'webhook_endpoints', wanted)
  secret = (body as unknown as { readonly secret: string }).secret
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await payments.stop()
})

/** Starts the service. Resolves when it accepts requests. */
async function startService(): Promise<void> {
  const { stack, simulator } = payments
  child = fork(program, [], {
    // The Node options of a Vitest worker are not inherited, because they resolve packages to their sources.
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_DATA_DIR: stack.folder,
      TOLLGATE_DATABASE_URL: stack.databaseUrl,
      TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
      TOLLGATE_LOG_LEVEL: 'error',
      TOLLGATE_LOG_PARTITIONS: '4',
      TOLLGATE_CONTROL_PLANE_PORT: String(port),
      TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
      TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1',
      TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: secret,
      TOLLGATE_STRIPE_TIMEOUT_MS: '1000',
      TOLLGATE_PAYMENTS_INTERVAL_MS: '50',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit').then(() => {
    throw new Error('the service ended before it served')
  })
  await Promise.race([once(child, 'message'), gone])
  // The process is killed later, so its exit must not cause an unhandled rejection.
  gone.catch(() => undefined)
}

async function kill(): Promise<void> {
  const gone = once(child!, 'exit')
  child!.kill('SIGKILL')
  await gone
}

/** Sends the same request with the same key until it is answered. */
async function insistOn(key: string, body: object): Promise<PaymentIntentBody> {
  for (;;) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/sdk/payment-intents`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${payments.tenant.sandboxKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
      })
      if (answer.status === 201) return (await answer.json()) as PaymentIntentBody
    } catch {
      // The service was killed or has not started yet.
    }
    await sleep(50)
  }
}

test(
  'charges, grants and reports each payment once while services are killed',
  { timeout: 300_000 },
  async () => {
    const planRef = await payments.createPlan({ price: 1_900 })
    const wares: readonly object[] = [
      { purpose: 'credit_topup', amount: 1_000, currency: 'USD' },
      { productRef: payments.productRef, planRef },
    ]
    const customers: string[] = []
    for (let index = 0; index < customersMax; index++)
      customers.push(await payments.createCustomer())
    await payments.simulate('webhooks', { order: 'shuffled', copies: 2, dropNext: 20 })
    await startService()

    let isOver = false
    const killing = (async () => {
      for (let round = 0; round < kills; round++) {
        await sleep(300 + Math.random() * 900)
        await payments.simulate('faults', { kind: faults[round % faults.length], ...making })
        await kill()
        await startService()
      }
      isOver = true
    })()
    const shopping = customers.map(async (customerRef, index) => {
      // Some customers pay after the last kill, most of them during the kills.
      for (let time = 0; time < 2 || (!isOver && time < 6); time++) {
        const key = `${customerRef}:${time}`
        const item = time === 0 ? wares[index % wares.length] : wares[0]
        const intent = await insistOn(key, { customerRef, ...item })
        await payments.confirm(intent.processorPaymentId)
        await sleep(Math.random() * 400)
      }
    })
    await Promise.all([killing, ...shopping])

    const sql = payments.stack.database.in(environment)
    const { providerId } = payments.tenant
    await eventually(async () => {
      // Simulate some minutes, after which other processes take over the work of dead ones.
      await sql`
      update payment_intents set next_look_at = now() - interval '1 second'
      where next_look_at > now() + interval '5 seconds' and status <> 'requires_payment_method'`
      await sql`
      update processor_events set due_at = now() - interval '1 second'
      where settled_at is null and due_at > now() + interval '5 seconds'`
      const [left] = await sql<{ payments: number; events: number; waiting: number }[]>`
      select
        (select count(*)::int from payment_intents where next_look_at is not null) as payments,
        (select count(*)::int from processor_events where settled_at is null) as events,
        (select count(*)::int from publications) as waiting`
      expect(left).toEqual({ payments: 0, events: 0, waiting: 0 })
    }, 120_000)
    const processorUrl = payments.simulator.simulator.url
    await verifyBooks({ sql, providerId, processorUrl, now: new Date() })
    const [paid] = await sql<{ count: number }[]>`
    select count(*)::int as count from payment_intents where status = 'succeeded'`
    expect(paid!.count).toBeGreaterThanOrEqual(customersMax)
  },
)

const making = { method: 'POST', path: '/v1/payment_intents' }
const faults = ['error_after', 'reset_after', 'hang_after', 'error_before'] as const
