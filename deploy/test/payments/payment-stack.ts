import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { BalanceBody } from '@tollgate/schemas/http/credits'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import {
  startTestStack,
  type Tenant,
  type TestStack,
} from '../../../control-plane/test/test-stack.ts'
import {
  openSimulator,
  type SimulatorUnderTest,
} from '../../../stripe-simulator/test/simulator-under-test.ts'

const secretKey = 'sk_test_1'
export const webhookSecret = 'whsec_payments'

/** Automatic top-ups of 20 dollars when the wallet falls below 5. */
export const topUpTerms = {
  enabled: true,
  triggerType: 'balance',
  currency: 'USD',
  thresholdAmountMajor: 5,
  topupAmountMajor: 20,
}

export type PaymentStackOptions = {
  /** Additional settings. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether the simulator sends webhooks to the service. */
  readonly hasWebhooks?: boolean
  /** If absent, there is no usage store, and no test reads usage. */
  readonly usageStore?: UsageStore
}

type ProcessorResponse = {
  readonly isOk: boolean
  readonly body: ProcessorObject & { readonly data?: readonly ProcessorObject[] }
}

type ProcessorObject = {
  readonly id: string
  readonly status: string
  readonly metadata: Readonly<Record<string, string>>
}

/** The management API on real parts, with the simulator of Stripe as its processor and a provider that sells. */
export class PaymentStack {
  readonly stack: TestStack
  readonly simulator: SimulatorUnderTest
  readonly tenant: Tenant
  readonly productRef: string
  private count = 0

  private constructor(
    stack: TestStack,
    simulator: SimulatorUnderTest,
    tenant: Tenant,
    productRef: string,
  ) {
    this.stack = stack
    this.simulator = simulator
    this.tenant = tenant
    this.productRef = productRef
  }

  static async start({
    settings,
    hasWebhooks,
    usageStore,
  }: PaymentStackOptions = {}): Promise<PaymentStack> {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/webhooks/stripe/sandbox`
    const simulator = await openSimulator(
      hasWebhooks === true ? { webhooks: { test: { url, secret: webhookSecret } } } : {},
    )
    const stack = await startTestStack({
      ...(usageStore === undefined ? {} : { usageStore }),
      settings: {
        TOLLGATE_CONTROL_PLANE_PORT: String(port),
        TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
        TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: secretKey,
        TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY: 'pk_test_payments',
        TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: webhookSecret,
        TOLLGATE_PAYMENTS_INTERVAL_MS: '50',
        TOLLGATE_PAYMENT_WAIT_MS: '1500',
        ...settings,
      },
    })
    const tenant = await stack.createTenant()
    const product = { name: 'API' }
    const { body } = await stack.call<ProductBody>(
      tenant.sandboxKey,
      'POST',
      '/v1/sdk/products',
      product,
    )
    return new PaymentStack(stack, simulator, tenant, body.reference)
  }

  async stop(): Promise<void> {
    await this.stack.stop()
    await this.simulator.close()
  }

  get sql() {
    return this.stack.database.in('sandbox')
  }

  /** Returns the settings of a service in a separate process that uses the same stores and processor. */
  get serviceSettings(): Record<string, string> {
    return {
      TOLLGATE_DATA_DIR: this.stack.folder,
      TOLLGATE_DATABASE_URL: this.stack.databaseUrl,
      TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
      TOLLGATE_LOG_PARTITIONS: '4',
      TOLLGATE_STRIPE_SANDBOX_URL: this.simulator.simulator.url,
      TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: secretKey,
    }
  }

  call<Body>(method: string, path: string, body?: unknown) {
    return this.stack.call<Body>(this.tenant.sandboxKey, method, path, body)
  }

  async createCustomer(): Promise<string> {
    this.count += 1
    const email = `c${this.count}@example.com`
    const { body } = await this.call<CustomerBody>('POST', '/v1/sdk/customers', { email })
    return body.reference
  }

  async createPlan(fields: object): Promise<string> {
    const path = `/v1/sdk/products/${this.productRef}/plans`
    const { body } = await this.call<PlanBody>('POST', path, { name: 'Plan', ...fields })
    return body.reference
  }

  async balanceOf(customerRef: string): Promise<number> {
    const path = `/v1/sdk/customers/${customerRef}/balance`
    return (await this.call<BalanceBody>('GET', path)).body.credits
  }

  /** Returns the customer's purchases, newest first. */
  async purchasesOf(customerRef: string): Promise<PurchaseBody[]> {
    const path = `/v1/sdk/purchases/customer/${customerRef}`
    return (await this.call<{ purchases: PurchaseBody[] }>('GET', path)).body.purchases
  }

  createIntent(key: string, body: object) {
    return this.stack.callRaw<PaymentIntentBody>(
      this.tenant.sandboxKey,
      'POST',
      '/v1/sdk/payment-intents',
      { headers: { 'idempotency-key': key }, body: JSON.stringify(body) },
    )
  }

  process<Body>(processorPaymentId: string, customerRef: string) {
    const path = `/v1/sdk/payment-intents/${processorPaymentId}/process`
    return this.call<Body>('POST', path, { customerRef })
  }

  /** Calls the processor's API, like the customer's browser or a user of the processor's dashboard. */
  async stripe(
    method: 'GET' | 'POST',
    path: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<ProcessorResponse> {
    const form = new URLSearchParams(fields)
    const query = method === 'GET' ? `?${form.toString()}` : ''
    const answer = await fetch(`${this.simulator.simulator.url}/v1/${path}${query}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}` },
      ...(method === 'POST' ? { body: form } : {}),
    })
    return { isOk: answer.ok, body: (await answer.json()) as ProcessorResponse['body'] }
  }

  confirm(processorPaymentId: string, card = 'pm_card_visa'): Promise<ProcessorResponse> {
    return this.stripe('POST', `payment_intents/${processorPaymentId}/confirm`, {
      payment_method: card,
      return_url: 'https://shop.example/back',
    })
  }

  /** Triggers a happening at the processor that is not caused by its API, or changes the simulator's settings. */
  simulate(path: string, body: object = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.simulator.admin(path, body)
  }

  /** Returns the event types of a customer or an object, in the order in which they were emitted. */
  async eventsOf(named: string): Promise<string[]> {
    const events = await listOutboxEvents(this.sql, this.tenant.providerId, 100_000)
    return events
      .filter(({ object }) => JSON.stringify(object).includes(named))
      .map(({ type }) => type)
  }

  /** Returns the number of succeeded charges of a payment. */
  async succeededCharges(processorPaymentId: string): Promise<number> {
    const { body } = await this.stripe('GET', 'charges', { payment_intent: processorPaymentId })
    return body.data!.filter(({ status }) => status === 'succeeded').length
  }
}

/** Repeats the check until it passes. Fails with its last error. */
export async function eventually(check: () => Promise<void>, waitMs = 20_000): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
}
