import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jobActor } from '@tollgate/domain/audit/actor'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import { createOrLinkCustomer } from '@tollgate/domain/customers/create-or-link-customer'
import type { Customer } from '@tollgate/domain/customers/repository'
import type { OutboxEvent } from '@tollgate/domain/outbox/outbox-event'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { createPlan } from '@tollgate/domain/catalog/create-plan'
import type { Plan, PlanTerms } from '@tollgate/domain/plans/plan'
import { updatePlan } from '@tollgate/domain/catalog/plans-repository'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { createProduct } from '@tollgate/domain/catalog/create-product'
import type { Product } from '@tollgate/domain/catalog/products-repository'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { createPurchase } from '@tollgate/domain/purchases/create-purchase'
import { newTrialPurchase, newUnpaidPurchase } from '@tollgate/domain/purchases/new-purchase'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { usageTopic } from '@tollgate/schemas/topics'
import { readBillingRunnerConfig, type BillingRunnerConfig } from '../src/config.ts'
import { createJobs } from '../src/jobs/job-catalogue.ts'
import { runOnce, type Totals } from '../src/jobs/run-once.ts'
import { publisherOf, type Parts } from '../src/open-parts.ts'
import { createBillingRunner, type BillingRunner } from '../src/service.ts'

/** A clock that shows the time set by the test. */
type TestClock = Clock & { set(iso: string): void }

export type Shop = { readonly providerId: string; readonly product: Product }

export type RunnerStack = {
  readonly database: Database
  readonly hotState: HotState
  readonly clock: TestClock
  readonly folder: string
  readonly databaseUrl: string
  readonly parts: Parts
  /** Settings of a runner in a separate process that uses the same stores. */
  environment(settings?: Record<string, string>): Record<string, string>
  config(settings?: Record<string, string>): BillingRunnerConfig
  /** Creates a runner without starting it. */
  createRunner(settings?: Record<string, string>): BillingRunner
  /** Creates a provider with one product. */
  openShop(): Promise<Shop>
  addPlan(shop: Shop, input: Partial<PlanCreateInput>): Promise<Plan>
  /** Creates a customer who buys the plan now. */
  buy(shop: Shop, plan: Plan, change?: Partial<Purchase>): Promise<Purchase>
  /** Creates a customer who starts the plan's trial now. */
  startTrial(shop: Shop, plan: Plan): Promise<Purchase>
  /** Saves a card that can be charged without the customer. */
  saveCard(shop: Shop, customerRef: string): Promise<void>
  /** Runs one job with the clock set to that time. */
  runJob(
    name: string,
    at: string,
    charge?: ChargeInvoice,
    settings?: Record<string, string>,
  ): Promise<Totals>
  purchase(shop: Shop, reference: string): Promise<Purchase>
  /** Returns the events of the provider, without those of the test's setup. */
  events(shop: Shop, of?: RegExp): Promise<OutboxEvent[]>
  within<Result>(shop: Shop, body: (work: UnitOfWork) => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

/** Turns off every schedule, so that only the runs of the test happen. */
const nothingScheduled = Object.fromEntries(
  [
    'REMINDERS',
    'TRIAL_EXPIRY',
    'RENEWALS',
    'USAGE_BILLING',
    'THRESHOLD_BILLING',
    'PAYMENT_RETRIES',
    'WRITE_OFFS',
    'USAGE_RESET',
    'PACK_SETTLEMENT',
    'PLAN_MIGRATIONS',
    'SCHEDULED_GRANTS',
    'PLAN_CHANGES',
    'ENDED_PURCHASES',
    'ABANDONED_CHECKOUTS',
    'CLEAN_UP',
    'TAX_ID_CHECKS',
    'RECONCILIATION',
  ].map((name) => [`TOLLGATE_SCHEDULE_${name}`, 'off']),
)

/** Starts the stack. Without a usage store in `parts`, usage queries fail. */
export async function startRunnerStack(
  options: { readonly usageStore?: UsageStore; readonly taxRegister?: TaxRegister } = {},
): Promise<RunnerStack> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-billing-runner-'))
  const testDatabase = await startTestDatabase(migrationsFolder)
  const { database } = testDatabase
  const hotState = await openLmdbHotState({ folder: join(folder, 'hot'), role: 'projection' })
  const eventLog = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [usageTopic('sandbox')]: 2, [usageTopic('live')]: 2 },
  })
  const clock = testClock()
  const logger = createLogger('billing-runner', 'silent')
  const ownUsageStore = options.usageStore === undefined ? openAbsentUsageStore() : undefined
  const parts: Parts = {
    clock,
    usageStore: options.usageStore ?? ownUsageStore!,
    database,
    hotState,
    eventLog,
    logger,
    tracing: undefined,
    processors: { of: () => undefined, close: async () => undefined },
    charge: undefined,
    taxRegister: options.taxRegister,
  }
  const environment = (settings: Record<string, string> = {}): Record<string, string> => ({
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_DATABASE_URL: testDatabase.url,
    TOLLGATE_CLICKHOUSE_URL: absentUrl,
    TOLLGATE_LOG_PARTITIONS: '2',
    TOLLGATE_SCHEDULE_LOOK_MS: '20',
    TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES: '0',
    ...nothingScheduled,
    ...settings,
  })
  const config = (settings?: Record<string, string>): BillingRunnerConfig =>
    readBillingRunnerConfig(environment(settings))

  const within: RunnerStack['within'] = async ({ providerId }, body) => {
    const now = new Date(clock.now())
    const actor = jobActor('test')
    const operation = { providerId, environment: 'sandbox', now, actor } as const
    const whole = { ...operation, requestId: null, idempotencyKey: null }
    return (await runUnitOfWork(database, whole, body)).result
  }
  const keep = async (
    shop: Shop,
    make: (customer: Customer, now: Date) => Purchase,
  ): Promise<Purchase> =>
    within(shop, async (work) => {
      const purchase = make(await newCustomer(work), work.now)
      await createPurchase(work, purchase)
      return purchase
    })
  return {
    database,
    hotState,
    clock,
    folder,
    databaseUrl: testDatabase.url,
    parts,
    environment,
    config,
    createRunner: (settings) => createBillingRunner(config(settings), parts),
    openShop: async () => {
      const fields = { name: 'Acme', email: null, defaultCurrency: 'USD' } as const
      const actor = jobActor('test')
      const { providerId } = await createProvider(
        database,
        hotState,
        actor,
        { ...fields, cycleMode: 'calendar' },
        new Date(clock.now()),
      )
      const product = await within({ providerId, product: undefined as never }, (work) =>
        createProduct(work, {
          name: 'API',
          description: null,
          imageUrl: null,
          productType: null,
          isMcpPay: false,
          config: null,
          metadata: {},
          taxBehavior: null,
        }),
      )
      return { providerId, product }
    },
    addPlan: (shop, input) =>
      within(shop, async (work) => {
        const { reference } = shop.product
        const given = { name: 'Plan', type: 'recurring', ...input } as PlanCreateInput
        const outcome = await createPlan(work, reference, given, 'USD')
        if (outcome.kind === 'plan') return outcome.plan
        if (outcome.kind !== 'refused' || outcome.issues === undefined) {
          throw new Error(JSON.stringify(outcome))
        }
        return await addOldPlan(work, reference, given)
      }),
    buy: (shop, plan, change = {}) =>
      keep(shop, (customer, now) => ({
        ...newUnpaidPurchase({ customer, plan, ...termsOf(shop), origin: 'manual', now }),
        ...change,
      })),
    startTrial: (shop, plan) =>
      keep(shop, (customer, now) => newTrialPurchase({ customer, plan, ...termsOf(shop), now })),
    saveCard: ({ providerId }, customerRef) =>
      within({ providerId, product: undefined as never }, async ({ sql, now }) => {
        await sql`insert into customer_cards ${sql({
          provider_id: providerId,
          customer_ref: customerRef,
          brand: 'visa',
          last4: '4242',
          exp_month: 12,
          exp_year: 2030,
          reusable: true,
          updated_at: now,
        })}`
      }),
    runJob: async (name, at, charge, settings) => {
      clock.set(at)
      const limits = config(settings)
      const { job } = createJobs(limits, { ...parts, charge }).find(
        (each) => each.job.name === name,
      )!
      const never = new AbortController().signal
      const slotParts = { publisher: publisherOf(parts), logger, limits }
      return runOnce(slotParts, job, 'sandbox', never, () => undefined)
    },
    purchase: async ({ providerId }, reference) => {
      const filter = { reference, rowsMax: 1 }
      const [purchase] = await listPurchases(database.in('sandbox'), providerId, filter)
      return purchase!
    },
    events: async ({ providerId }, of = /^(purchase|usage|checkout_session)\.(?!created$)/) => {
      const events = await listOutboxEvents(database.in('sandbox'), providerId, 10_000)
      return events.filter(({ type }) => of.test(type))
    },
    within,
    stop: async () => {
      await ownUsageStore?.close()
      await eventLog.close()
      await hotState.close()
      await testDatabase.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const absentUrl = 'http://127.0.0.1:9'

function openAbsentUsageStore(): UsageStore {
  const credentials = { username: 'default', password: '' }
  return createClickHouseUsageStore({ url: absentUrl, requestTimeoutMs: 1_000, ...credentials })
}

function termsOf({ product }: Shop) {
  return { product, cycleMode: 'calendar' } as const
}

async function newCustomer(work: UnitOfWork): Promise<Customer> {
  const outcome = await createOrLinkCustomer(work, {
    email: `${randomUUID()}@example.com`,
    name: null,
    telephone: null,
    locale: null,
    externalRef: null,
    metadata: {},
  })
  if (outcome.kind !== 'customer') throw new Error(outcome.kind)
  return outcome.customer
}

function testClock(): TestClock {
  let fixedMs: number | undefined
  return {
    now: () => fixedMs ?? Date.now(),
    set: (iso) => (fixedMs = Date.parse(iso)),
  }
}

/** Inserts a plan that predates the current rules for prices and stays valid. */
async function addOldPlan(
  work: UnitOfWork,
  productRef: string,
  given: PlanCreateInput,
): Promise<Plan> {
  const { price = 0, basePrice = null, creditsPerUnit, usageTiers, overagePolicy, ...rest } = given
  const { limit, freeUnits, ...sound } = rest
  const outcome = await createPlan(work, productRef, sound, 'USD')
  if (outcome.kind !== 'plan') throw new Error(JSON.stringify(outcome))
  const rates = { creditsPerUnit, usageTiers, overagePolicy, limit, freeUnits }
  const named = Object.entries(rates).filter(([, value]) => value !== undefined)
  const terms = { ...outcome.plan.terms, ...(Object.fromEntries(named) as PlanTerms) }
  const plan = { ...outcome.plan, priceMinor: price, basePriceMinor: basePrice, terms }
  await updatePlan(work.sql, work.providerId, plan)
  return plan
}
