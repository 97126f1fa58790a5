import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce, type Totals } from '@tollgate/billing-runner/jobs/run-once'
import { openParts, publisherOf } from '@tollgate/billing-runner/open-parts'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { expect } from 'vitest'
import type { TollgateClient } from '../../../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from '../../manual-clock.ts'
import { startStack, type Stack } from '../../stack.ts'
import {
  openSimulator,
  type SimulatorUnderTest,
} from '../../../../stripe-simulator/test/simulator-under-test.ts'

const secretKey = 'sk_test_scenarios'
const webhookSecret = 'whsec_scenarios'

type ProcessorObject = {
  readonly id: string
  readonly data?: readonly { readonly id: string }[]
}

/**
 * All services on real parts, with one clock, and a provider that sells. Events are caused over HTTP, at the simulator of Stripe,
 * on the hosted pages, or by a job of the billing runner.
 */
export class ScenarioWorld {
  readonly stack: Stack
  readonly clock: ManualClock
  readonly client: TollgateClient
  /** Client for the live environment of the same provider. */
  readonly live: TollgateClient
  readonly productRef: string
  readonly #simulator: SimulatorUnderTest
  readonly #hotState: HotState
  readonly #folder: string
  readonly #close: () => Promise<void>

  private constructor(
    parts: Pick<ScenarioWorld, 'stack' | 'clock' | 'client' | 'live' | 'productRef'> & {
      readonly simulator: SimulatorUnderTest
      readonly hotState: HotState
      readonly folder: string
    },
    close: () => Promise<void>,
  ) {
    this.stack = parts.stack
    this.clock = parts.clock
    this.client = parts.client
    this.live = parts.live
    this.productRef = parts.productRef
    this.#simulator = parts.simulator
    this.#hotState = parts.hotState
    this.#folder = parts.folder
    this.#close = close
  }

  static async open(startsAt: string): Promise<ScenarioWorld> {
    const clock = createManualClock(startsAt)
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-scenarios-'))
    const hotState = await openLmdbHotState({ folder, role: 'projection' })
    const reader = await openLmdbHotState({ folder, role: 'reader' })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/webhooks/stripe/sandbox`
    const simulator = await openSimulator({
      clock,
      webhooks: { test: { url, secret: webhookSecret } },
    })
    const settings = {
      TOLLGATE_CONTROL_PLANE_PORT: String(port),
      TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
      TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: secretKey,
      TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: webhookSecret,
      TOLLGATE_PAYMENTS_INTERVAL_MS: '50',
      TOLLGATE_LEDGER_INTERVAL_MS: '50',
      TOLLGATE_USAGE_EVENTS_INTERVAL_MS: '50',
      TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS: '50',
      // Allows receivers on this machine.
      TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
    }
    const own = { clock, hotState, ingestHotState: reader, settings }
    const stack = await startStack({ ...own, hasWebhookDispatcher: true })
    const { sandbox: client, live } = await stack.createProvider()
    const { reference: productRef } = await client.createProduct({ name: 'Search' })
    const parts = { stack, clock, client, live, productRef, simulator, hotState, folder }
    return new ScenarioWorld(parts, async () => {
      await stack.stop()
      await simulator.close()
      await reader.close()
      await hotState.close()
      await rm(folder, { recursive: true, force: true })
    })
  }

  close(): Promise<void> {
    return this.#close()
  }

  async call<Body>(method: string, path: string, body?: unknown, key?: string): Promise<Body> {
    const answer = await this.client.send(method, path, body, key)
    if (answer.status > 299) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body as Body
  }

  async createCustomer(): Promise<string> {
    const email = `${randomUUID()}@example.com`
    return (await this.call<CustomerBody>('POST', '/v1/sdk/customers', { email })).reference
  }

  createProduct(fields: object): Promise<ProductBody> {
    return this.call('POST', '/v1/sdk/products', fields)
  }

  async createPlan(fields: object): Promise<string> {
    const path = `/v1/sdk/products/${this.productRef}/plans`
    return (await this.call<PlanBody>('POST', path, { name: 'Plan', ...fields })).reference
  }

  async activate(customerRef: string, planRef: string): Promise<void> {
    const { productRef } = this
    await this.call('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  }

  async purchaseOf(customerRef: string): Promise<PurchaseBody> {
    const path = `/v1/sdk/purchases/customer/${customerRef}`
    const { purchases } = await this.call<{ purchases: PurchaseBody[] }>('GET', path)
    return purchases.find(({ status }) => status === 'active') ?? purchases[0]!
  }

  createIntent(customerRef: string, request: object): Promise<PaymentIntentBody> {
    const body = { customerRef, ...request }
    return this.call('POST', '/v1/sdk/payment-intents', body, randomUUID())
  }

  /** The customer pays with the card, which is saved if a later charge needs it. Returns the processor's id of the payment. */
  async pay(customerRef: string, request: object, card = 'pm_card_visa'): Promise<string> {
    const { processorPaymentId } = await this.createIntent(customerRef, request)
    await this.confirm(processorPaymentId, card)
    const path = `/v1/sdk/payment-intents/${processorPaymentId}/process`
    const done = await this.call<ProcessedPaymentBody>('POST', path, { customerRef })
    if (done.status !== 'succeeded') throw new Error(JSON.stringify(done))
    return processorPaymentId
  }

  buy(customerRef: string, planRef: string, card?: string): Promise<string> {
    return this.pay(customerRef, { productRef: this.productRef, planRef }, card)
  }

  /** Creates a customer who has bought the plan with a card. */
  async createHolder(planRef: string, card?: string) {
    const customerRef = await this.createCustomer()
    const paymentId = await this.buy(customerRef, planRef, card)
    return { customerRef, paymentId, purchase: await this.purchaseOf(customerRef) }
  }

  confirm(processorPaymentId: string, card: string): Promise<ProcessorObject> {
    return this.stripe('POST', `payment_intents/${processorPaymentId}/confirm`, {
      payment_method: card,
      return_url: 'https://shop.example/back',
    })
  }

  /** Calls the processor's API, like the customer's browser or a user of the processor's dashboard. */
  async stripe(
    method: 'GET' | 'POST',
    path: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<ProcessorObject> {
    const form = new URLSearchParams(fields)
    const query = method === 'GET' ? `?${form.toString()}` : ''
    const answer = await fetch(`${this.#simulator.simulator.url}/v1/${path}${query}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}` },
      ...(method === 'POST' ? { body: form } : {}),
    })
    return (await answer.json()) as ProcessorObject
  }

  /** Triggers a happening at the processor that is not caused by its API. */
  simulate(path: string, body: object = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#simulator.admin(path, body)
  }

  async chargeOf(paymentId: string): Promise<string> {
    const { data } = await this.stripe('GET', 'charges', { payment_intent: paymentId })
    return data![0]!.id
  }

  /** Makes the bank decline the saved card from now on. */
  async makeCardDecline(customerRef: string): Promise<void> {
    const sql = this.stack.database.in('sandbox')
    const [row] = await sql<{ processor_customer_id: string }[]>`
      select processor_customer_id from processor_customers where customer_ref = ${customerRef}`
    const card = 'pm_card_chargeCustomerFail'
    const { id } = await this.stripe('POST', `payment_methods/${card}/attach`, {
      customer: row!.processor_customer_id,
    })
    for (const table of ['customer_cards', 'auto_recharges']) {
      await sql`
        update ${sql(table)} set payment_method_id = ${id} where customer_ref = ${customerRef}`
    }
  }

  /** Opens a checkout and presses one of its buttons, like the customer's browser. */
  async checkOut(customerRef: string, how: 'activate' | 'trial', planRef: string): Promise<void> {
    const { baseUrl } = this.stack
    const request = { customerRef, productRef: this.productRef }
    const session = await this.call<{ sessionId: string }>(
      'POST',
      '/v1/sdk/checkout-sessions',
      request,
    )
    const link = `${baseUrl}/customer/checkout?id=${session.sessionId}`
    const opened = await fetch(link, { redirect: 'manual' })
    const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? []
    const path = baseUrl + new URL(opened.headers.get('location') ?? '', baseUrl).pathname
    const page = await fetch(`${path}?plan=${planRef}`, { headers: { cookie } })
    const [, formToken = ''] = /name="formToken" value="([^"]+)"/.exec(await page.text()) ?? []
    const body = new URLSearchParams({ formToken, plan: planRef })
    const pressed = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
    const { status } = await fetch(`${path}/${how}`, pressed)
    if (status !== 303) throw new Error(`the checkout answered ${status}`)
  }

  /** Runs one job at a given time, to which all clocks are set. */
  async runJob(name: string, at: string): Promise<Totals> {
    const { database, eventLog, usageStore } = this.stack
    await this.#untilSent()
    this.clock.set(at)
    const config = readBillingRunnerConfig({
      TOLLGATE_DATA_DIR: this.#folder,
      TOLLGATE_DATABASE_URL: 'postgres://nowhere',
      TOLLGATE_CLICKHOUSE_URL: 'http://nowhere',
      TOLLGATE_STRIPE_SANDBOX_URL: this.#simulator.simulator.url,
      TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: secretKey,
      TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES: '0',
    })
    const logger = createLogger('billing-runner', 'error')
    const own = { clock: this.clock, database, hotState: this.#hotState, eventLog, usageStore }
    const parts = await openParts(config, { ...own, logger })
    try {
      const { job } = createJobs(config, parts).find((each) => each.job.name === name)!
      const never = new AbortController().signal
      const slotParts = { publisher: publisherOf(parts), logger, limits: config }
      return await runOnce(slotParts, job, 'sandbox', never, () => undefined)
    } finally {
      await parts.close()
    }
  }

  /** Waits until all deliveries have arrived, because they were signed at the current time of the clock. */
  async #untilSent(): Promise<void> {
    const sql = this.stack.database.in('sandbox')
    const waiting = () => sql`select reference from webhook_deliveries where state = 'pending'`
    await expect.poll(waiting, { timeout: 30_000 }).toEqual([])
  }
}
