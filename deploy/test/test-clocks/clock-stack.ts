import { setTimeout as sleep } from 'node:timers/promises'
import { startTrial } from '@tollgate/domain/billing/start-trial'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { InvoiceBody } from '@tollgate/schemas/http/invoices'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import type { TestClockBody } from '@tollgate/schemas/http/test-clocks'
import {
  openSimulator,
  type SimulatorUnderTest,
} from '../../../stripe-simulator/test/simulator-under-test.ts'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startStack, type Stack } from '../stack.ts'

const secretKey = 'sk_test_1'
const webhookSecret = 'whsec_clocks'

export type ClockStackOptions = {
  readonly settings?: Readonly<Record<string, string>>
  /** Real time. Default: that of this machine. */
  readonly clock?: Clock
  readonly hasBillingRunner?: boolean
}

/** An installation with a payment processor, and a provider in its sandbox. */
export class ClockStack {
  readonly stack: Stack
  readonly simulator: SimulatorUnderTest
  readonly client: TollgateClient
  readonly liveClient: TollgateClient
  #count = 0
  #cardPlan: Promise<{ productRef: string; planRef: string }> | undefined

  private constructor(
    stack: Stack,
    simulator: SimulatorUnderTest,
    clients: Pick<ClockStack, 'client' | 'liveClient'>,
  ) {
    this.stack = stack
    this.simulator = simulator
    this.client = clients.client
    this.liveClient = clients.liveClient
  }

  static async start(options: ClockStackOptions = {}): Promise<ClockStack> {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/webhooks/stripe/sandbox`
    const simulator = await openSimulator({
      webhooks: { test: { url, secret: webhookSecret } },
    })
    const stack = await startStack({
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      hasBillingRunner: options.hasBillingRunner ?? true,
      settings: {
        TOLLGATE_CONTROL_PLANE_PORT: String(port),
        TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
        TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: secretKey,
        TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: webhookSecret,
        TOLLGATE_PAYMENTS_INTERVAL_MS: '200',
        TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES: '0',
        TOLLGATE_SCHEDULE_RECONCILIATION: 'off',
        ...options.settings,
      },
    })
    const { sandbox: client, live: liveClient } = await stack.createProvider()
    return new ClockStack(stack, simulator, { client, liveClient })
  }

  async stop(): Promise<void> {
    await this.stack.stop()
    await this.simulator.close()
  }

  get sql() {
    return this.stack.database.in('sandbox')
  }

  async get<Body>(path: string): Promise<Body> {
    return (await this.client.require('GET', path, undefined)) as Body
  }

  async post<Body>(path: string, body: unknown, key?: string): Promise<Body> {
    return (await this.client.require('POST', path, body, key)) as Body
  }

  async createClock(frozenTime: string): Promise<string> {
    const clock = await this.post<TestClockBody>('/v1/ui/test-clocks', { frozenTime })
    return clock.reference
  }

  async createCustomer(testClock?: string): Promise<string> {
    this.#count += 1
    const email = `customer${this.#count}@example.com`
    const customer = { email, ...(testClock === undefined ? {} : { testClock }) }
    return (await this.client.createCustomer(customer)).reference
  }

  clock(reference: string): Promise<TestClockBody> {
    return this.get(`/v1/ui/test-clocks/${reference}`)
  }

  requestAdvance(reference: string, to: string): Promise<TestClockBody> {
    return this.post(`/v1/ui/test-clocks/${reference}/advance`, { to })
  }

  /** Advances the clock, and returns it when it is ready. Throws if it fails. */
  async advance(reference: string, to: string): Promise<TestClockBody> {
    await this.requestAdvance(reference, to)
    return this.untilReady(reference)
  }

  async untilReady(reference: string): Promise<TestClockBody> {
    for (;;) {
      const clock = await this.clock(reference)
      if (clock.status === 'ready') return clock
      if (clock.status !== 'advancing') throw new Error(JSON.stringify(clock))
      await sleep(20)
    }
  }

  /** The customer buys the plan with the card, which is saved. */
  async buy(
    customerRef: string,
    productRef: string,
    planRef: string,
    card = 'pm_card_visa',
  ): Promise<PurchaseBody> {
    this.#count += 1
    const intent = await this.post<{ processorPaymentId: string }>(
      '/v1/sdk/payment-intents',
      { customerRef, productRef, planRef },
      `buy-${this.#count}`,
    )
    const { processorPaymentId } = intent
    const confirmed = await this.stripe(`payment_intents/${processorPaymentId}/confirm`, {
      payment_method: card,
      return_url: 'https://shop.example/back',
    })
    if (!confirmed.ok) throw new Error(await confirmed.text())
    const path = `/v1/sdk/payment-intents/${processorPaymentId}/process`
    const processed = await this.post<{ status: string }>(path, { customerRef })
    if (processed.status !== 'succeeded') throw new Error(JSON.stringify(processed))
    return (await this.purchasesOf(customerRef))[0]!
  }

  /** The customer starts the plan's trial at the time of the clock, as on the checkout. */
  async startTrial(customerRef: string, productRef: string, planRef: string): Promise<void> {
    const [row] = await this.sql<{ provider_id: string; time_reached: Date }[]>`
      select customers.provider_id, time_reached from customers
      join test_clocks on test_clocks.reference = customers.test_clock_ref
      where customers.reference = ${customerRef}`
    const { provider_id: providerId, time_reached: now } = row!
    const operation = jobOperation('test', { providerId, environment: 'sandbox' }, now)
    await runUnitOfWork(this.stack.database, operation, async (work) => {
      const customer = await findCustomer(work.sql, providerId, customerRef)
      const terms = { productRef, planRef, cycleMode: 'calendar' } as const
      const outcome = await startTrial(work, { customer: customer!, ...terms })
      if (outcome.kind !== 'started') throw new Error(outcome.kind)
    })
  }

  /** Saves a card of the customer, who pays for something else with it. */
  async saveCard(customerRef: string, card = 'pm_card_visa'): Promise<void> {
    this.#cardPlan ??= this.#createCardPlan()
    const { productRef, planRef } = await this.#cardPlan
    await this.buy(customerRef, productRef, planRef, card)
  }

  async #createCardPlan(): Promise<{ productRef: string; planRef: string }> {
    const { reference: productRef } = await this.client.createProduct({ name: 'Card' })
    const terms = { name: 'Card', type: 'recurring', price: 100, billingCycle: 'yearly' }
    const { reference: planRef } = await this.client.createPlan(productRef, terms)
    return { productRef, planRef }
  }

  /** Reads an object of the processor, or changes it if fields are given. */
  stripe(path: string, fields?: Readonly<Record<string, string>>): Promise<Response> {
    return fetch(`${this.simulator.simulator.url}/v1/${path}`, {
      headers: { authorization: `Bearer ${secretKey}` },
      ...(fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) }),
    })
  }

  /** Replaces the customer's saved card, as if the bank now treated it differently. */
  async replaceCard(customerRef: string, card: string): Promise<void> {
    const [row] = await this.sql<{ id: string }[]>`
      select processor_customer_id as id from processor_customers
      where customer_ref = ${customerRef}`
    const answer = await this.stripe(`payment_methods/${card}/attach`, { customer: row!.id })
    const { id } = (await answer.json()) as { id: string }
    await this.sql`
      update customer_cards set payment_method_id = ${id} where customer_ref = ${customerRef}`
  }

  /** Returns the customer's purchases, newest first. */
  async purchasesOf(customerRef: string): Promise<PurchaseBody[]> {
    const path = `/v1/sdk/purchases/customer/${customerRef}`
    return (await this.get<{ purchases: PurchaseBody[] }>(path)).purchases
  }

  /** Returns the customer's invoices with their lines, oldest first. */
  async invoicesOf(customerRef: string): Promise<InvoiceBody[]> {
    const path = `/v1/ui/invoices?limit=100&customerRef=${customerRef}`
    const { invoices } = await this.get<{ invoices: { reference: string }[] }>(path)
    const full: InvoiceBody[] = []
    for (const { reference } of invoices.toReversed()) {
      full.push(await this.get<InvoiceBody>(`/v1/ui/invoices/${reference}`))
    }
    return full
  }

  /** Returns the customer's events with their times, in the order in which they were emitted. */
  async eventsOf(customerRef: string): Promise<string[]> {
    const rows = await this.sql<{ type: string; created_at: Date }[]>`
      select type, created_at from outbox
      where object::text like ${`%${customerRef}%`} order by sequence`
    return rows.map(({ type, created_at: at }) => `${at.toISOString()} ${type}`)
  }
}
