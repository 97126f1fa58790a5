import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { jobActor } from '@tollgate/domain/audit/actor'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import type { PaymentJobParts } from '@tollgate/domain/settlement/process-inbox'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { ReconcileParts } from '@tollgate/domain/reconciliation/reconcile'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import { StripePaymentProcessor } from '@tollgate/platform/payments/stripe/stripe-payment-processor'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { commit } from '../../../control-plane/src/access/commit.ts'
import type { TakeBackParts } from '../../../control-plane/src/jobs/take-back-credits.ts'
import { Wallets } from '../../../control-plane/src/wallets/wallets.ts'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from '../manual-clock.ts'
import { startStack, type Stack } from '../stack.ts'
import {
  openSimulator,
  type SimulatorUnderTest,
} from '../../../stripe-simulator/test/simulator-under-test.ts'
import type { Mode } from './model/calendar.ts'
import { dollars, type ModelCurrency } from './model/money.ts'
import { KillSwitch, killable, killableDatabase } from './kill-after-effects.ts'

/** A provider that sells in both environments. */
export type Seller = {
  readonly providerId: string
  readonly mode: Mode
  readonly currency: ModelCurrency
  /** Whether the provider is in Sweden and collects VAT. */
  readonly isTaxed: boolean
  /** Whether it issues invoices for periods that cost nothing. */
  readonly issuesZero: boolean
  readonly clients: Readonly<Record<Environment, TollgateClient>>
}

const swede = { country: 'SE', vatNumber: 'SE556012579001' } as const

function rateOf({ perDollar: [numerator, denominator] }: ModelCurrency): string {
  return String(Number(numerator) / Number(denominator))
}

async function must(client: TollgateClient, method: string, path: string, body: object) {
  const answer = await client.send(method, path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
}

const walletLimits = {
  waitMs: 10_000,
  heldMs: 600_000,
  heldMax: 1_000,
  tailRecordsMax: 100_000,
  storedBalancesMax: 64,
}

const secretKeys = { sandbox: 'sk_test_year', live: 'sk_live_year' } as const
const webhookSecrets = { sandbox: 'whsec_year_sandbox', live: 'whsec_year_live' } as const
const hourMs = '3600000'
const claimedMs = '200'

/** All services on real parts, with one clock that the simulator of Stripe shares. */
export class Installation {
  readonly stack: Stack
  readonly clock: ManualClock
  readonly simulator: SimulatorUnderTest
  readonly #hotState: HotState
  readonly #processors: Readonly<Record<Environment, PaymentProcessor>>
  readonly #close: () => Promise<void>
  /** Configuration with the default schedules of the jobs. */
  readonly runnerConfig = readBillingRunnerConfig({
    TOLLGATE_DATA_DIR: '/nowhere',
    TOLLGATE_DATABASE_URL: 'postgres://nowhere',
    TOLLGATE_CLICKHOUSE_URL: 'http://nowhere',
    TOLLGATE_BILLING_CLAIM_LEASE_MS: claimedMs,
    TOLLGATE_BILLING_RETRY_PAUSE_MS: '1',
    // Disables jitter, because it does not depend on the seed.
    TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES: '0',
  })

  private constructor(
    parts: Pick<Installation, 'stack' | 'clock' | 'simulator'> & { readonly hotState: HotState },
    close: () => Promise<void>,
  ) {
    this.stack = parts.stack
    this.clock = parts.clock
    this.simulator = parts.simulator
    this.#hotState = parts.hotState
    this.#close = close
    const processorOf = (environment: Environment): PaymentProcessor =>
      new StripePaymentProcessor({
        url: new URL(this.simulator.simulator.url),
        secretKey: secretKeys[environment],
        webhookSecrets: [webhookSecrets[environment]],
        isLive: environment === 'live',
        timeoutMs: 5_000,
      })
    this.#processors = { sandbox: processorOf('sandbox'), live: processorOf('live') }
  }

  static async open(startsAt: string): Promise<Installation> {
    const clock = createManualClock(startsAt)
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-year-'))
    const hotState = await openLmdbHotState({ folder, role: 'projection' })
    const reader = await openLmdbHotState({ folder, role: 'reader' })
    const port = await freePort()
    const hook = (environment: Environment) => ({
      url: `http://127.0.0.1:${port}/webhooks/stripe/${environment}`,
      secret: webhookSecrets[environment],
    })
    const webhooks = { test: hook('sandbox'), live: hook('live') }
    const simulator = await openSimulator({ clock, webhooks })
    await simulator.admin('webhooks', { isHeld: true })
    const settings = settingsOf(simulator.simulator.url, port)
    const stack = await startStack({ clock, hotState, ingestHotState: reader, settings })
    const close = async (): Promise<void> => {
      await stack.stop()
      await simulator.close()
      await reader.close()
      await hotState.close()
      await rm(folder, { recursive: true, force: true })
    }
    return new Installation({ stack, clock, simulator, hotState }, close)
  }

  async openSeller(seller: Omit<Seller, 'providerId' | 'clients'>) {
    const { mode, currency, isTaxed, issuesZero } = seller
    const { database } = this.stack
    const now = new Date(this.clock.now())
    const actor = jobActor('test')
    const { code: defaultCurrency } = currency
    const fields = { name: 'Acme', email: null, defaultCurrency, cycleMode: mode } as const
    const { providerId } = await createProvider(database, this.#hotState, actor, fields, now)
    const clientOf = async (environment: Environment): Promise<TollgateClient> => {
      const key = { providerId, environment, name: null, expiresAt: null }
      const { secretKey } = await issueApiKey(database, this.#hotState, actor, key, now)
      const client = this.stack.clientWithKey(secretKey)
      if (isTaxed) await must(client, 'PATCH', '/v1/ui/merchant', swede)
      if (issuesZero) {
        await must(client, 'PATCH', '/v1/ui/merchant', { issueZeroInvoices: true })
      }
      if (currency !== dollars) {
        const path = `/v1/ui/exchange-rates/${currency.code}`
        await must(client, 'PUT', path, { unitsPerDollar: rateOf(currency) })
      }
      return client
    }
    const clients = { sandbox: await clientOf('sandbox'), live: await clientOf('live') }
    return { ...seller, providerId, clients }
  }

  /** Returns the publisher of a process that is killed by the switch. */
  publisher(killSwitch: KillSwitch): PublisherParts {
    const { eventLog, database } = this.stack
    return {
      database: killableDatabase(database, killSwitch),
      hotState: killable(this.#hotState, killSwitch),
      partitionCount: (environment) => eventLog.partitionCount(usageTopic(environment)),
      now: () => new Date(this.clock.now()),
    }
  }

  payments(killSwitch: KillSwitch): PaymentJobParts {
    const publisher = this.publisher(killSwitch)
    const { database } = publisher
    const logger = createLogger('test', 'silent')
    return {
      database,
      everyone: database,
      processors: { of: (environment) => killable(this.#processors[environment], killSwitch) },
      commit: (operation, body) => commit({ database, publisher, logger }, operation, body),
      hostedUrl: 'https://pay.example',
      now: publisher.now,
      logger,
    }
  }

  /** Returns the wallets as a process uses them. */
  credits(killSwitch: KillSwitch): TakeBackParts {
    const publisher = this.publisher(killSwitch)
    const { database, hotState } = publisher
    const { eventLog, usageStore } = this.stack
    const logger = createLogger('test', 'silent')
    const own = { database, eventLog, hotState, usageStore, logger, limits: walletLimits }
    return { database, publisher, logger, wallets: new Wallets(own) }
  }

  /** Returns the parts with which a runner reconciles at night. */
  reconciliation(): ReconcileParts {
    const { eventLog, usageStore } = this.stack
    const logger = createLogger('test', 'error')
    const payments = { ...this.payments(new KillSwitch()), logger }
    const counting = { eventLog, hotState: this.#hotState, usageStore, storedWaitMs: 10_000 }
    return { ...payments, counting: { ...counting, recheckPauseMs: 1_000, now: payments.now } }
  }

  operation({ providerId }: Seller, environment: Environment): Operation {
    const now = new Date(this.clock.now())
    const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
    return { ...by, providerId, environment, now }
  }

  /** Calls Stripe's API, like a customer's browser or a user of the dashboard. */
  async stripe(environment: Environment, path: string, fields: Record<string, string> = {}) {
    const answer = await fetch(`${this.simulator.simulator.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKeys[environment]}` },
      body: new URLSearchParams(fields),
    })
    return (await answer.json()) as { readonly id: string; readonly status: string }
  }

  /** Returns the succeeded charge of a payment. */
  async chargeOf(environment: Environment, paymentId: string): Promise<string> {
    const payment = await this.#readAtStripe<{ latest_charge: string }>(
      environment,
      `payment_intents/${paymentId}`,
    )
    return payment.latest_charge
  }

  /** Returns the processor's balances of all sellers by currency in its own units, whether available or pending. */
  async balanceAtStripe(environment: Environment): Promise<ReadonlyMap<string, bigint>> {
    type Part = { readonly amount: number; readonly currency: string }
    type Balance = { readonly available: readonly Part[]; readonly pending: readonly Part[] }
    const { available, pending } = await this.#readAtStripe<Balance>(environment, 'balance')
    const total = new Map<string, bigint>()
    for (const { currency, amount } of [...available, ...pending]) {
      const code = currency.toUpperCase()
      total.set(code, (total.get(code) ?? 0n) + BigInt(amount))
    }
    return total
  }

  /** Returns all objects of a kind in the simulator. */
  async listAtStripe<Item extends { readonly id: string }>(
    environment: Environment,
    kind: string,
  ): Promise<Item[]> {
    const found: Item[] = []
    for (;;) {
      const after = found.at(-1)?.id
      const query = new URLSearchParams({ limit: '100', ...(after && { starting_after: after }) })
      const page = await this.#readAtStripe<{ data: Item[]; has_more: boolean }>(
        environment,
        `${kind}?${query.toString()}`,
      )
      found.push(...page.data)
      if (!page.has_more) return found
    }
  }

  async #readAtStripe<Body>(environment: Environment, path: string): Promise<Body> {
    const answer = await fetch(`${this.simulator.simulator.url}/v1/${path}`, {
      headers: { authorization: `Bearer ${secretKeys[environment]}` },
    })
    return (await answer.json()) as Body
  }

  async close(): Promise<void> {
    for (const environment of environments) await this.#processors[environment].close()
    await this.#close()
  }
}

/** Settings with which the test runs the rounds of the payment jobs itself, and final states are reached soon. */
function settingsOf(simulatorUrl: string, port: number): Record<string, string> {
  return {
    TOLLGATE_CONTROL_PLANE_PORT: String(port),
    TOLLGATE_STRIPE_SANDBOX_URL: simulatorUrl,
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: secretKeys.sandbox,
    TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: webhookSecrets.sandbox,
    TOLLGATE_STRIPE_LIVE_URL: simulatorUrl,
    TOLLGATE_STRIPE_LIVE_SECRET_KEY: secretKeys.live,
    TOLLGATE_STRIPE_LIVE_WEBHOOK_SECRETS: webhookSecrets.live,
    TOLLGATE_PAYMENTS_INTERVAL_MS: hourMs,
    TOLLGATE_PUBLISH_INTERVAL_MS: '200',
    TOLLGATE_LEDGER_INTERVAL_MS: '50',
    TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS: '25',
  }
}
