import { rechargeWallets } from '@tollgate/domain/charging/recharge-wallets'
import { receiveEvents } from '@tollgate/domain/payments/inbox-repository'
import { pollEvents } from '@tollgate/domain/settlement/poll-events'
import { reconcilePayments } from '@tollgate/domain/settlement/reconcile-payments'
import { resumeRefunds } from '@tollgate/domain/settlement/resume-refunds'
import { removeProcessorCustomers } from '@tollgate/domain/settlement/remove-processor-customers'
import { processInbox, type PaymentJobParts } from '@tollgate/domain/settlement/process-inbox'
import { publishPending } from '@tollgate/domain/publishing/publisher'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Database } from '@tollgate/platform/database/database'
import { createLogger } from '@tollgate/platform/observability/logger'
import {
  PaymentProcessorUnavailableError,
  type PaymentProcessor,
  type ProcessorEvent,
} from '@tollgate/platform/payments/payment-processor'
import { noteCrossing } from '@tollgate/domain/billing/crossings-repository'
import { commitAndPublish } from '@tollgate/domain/publishing/commit-and-publish'
import { closeCustomer, type ClosingParts } from '@tollgate/domain/closing/close-customer'
import type { MeasuringParts } from '@tollgate/domain/billing/measure-usage'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createPlanChanges } from '@tollgate/billing-runner/jobs/change-plans'
import { createPlanMigrations } from '@tollgate/billing-runner/jobs/migrate-plans'
import { createTrialExpiry } from '@tollgate/billing-runner/jobs/end-trials'
import { createEndedPurchases } from '@tollgate/billing-runner/jobs/end-purchases'
import { createRenewals } from '@tollgate/billing-runner/jobs/renew'
import { createRetries } from '@tollgate/billing-runner/jobs/retry-charges'
import { createScheduledGrants } from '@tollgate/billing-runner/jobs/grant-credits'
import { processSlot } from '@tollgate/billing-runner/jobs/process-slot'
import { createThresholdBilling } from '@tollgate/billing-runner/jobs/bill-thresholds'
import { createUsageBilling } from '@tollgate/billing-runner/jobs/bill-usage'
import { createPackSettlement } from '@tollgate/billing-runner/jobs/settle-packs'
import { takeBackCredits, type TakeBackParts } from '@tollgate/control-plane/jobs/take-back-credits'
import { applyCorrection } from '@tollgate/control-plane/usage-corrections/apply-correction'
import type { CorrectionParts } from '@tollgate/control-plane/usage-corrections/correction-parts'
import { claimCorrections } from '@tollgate/domain/usage-corrections/repository'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { createHoldCredits, createReleaseCredits } from '@tollgate/domain/wallet/hold-credits'
import type { WalletKey, WalletParts } from '@tollgate/domain/wallet/hot-wallet'
import { readWallet, type HotWallet } from '@tollgate/domain/wallet/read-wallet'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import {
  ProcessCrashedError,
  databaseOf,
  hotStateOf,
  processorOf,
  type CrashingProcess,
} from './crashing-process.ts'
import { environment } from './environment.ts'
import { operationIn } from './operation-in.ts'
import type { Stores } from './stores.ts'
import { partitionCount, type UsageLog } from './usage-log.ts'

const pollMs = 300_000

/** Settings with which the claims of a dead runner expire immediately. */
const runnerConfig = {
  ...readBillingRunnerConfig({
    TOLLGATE_DATABASE_URL: 'postgres://is-opened-already',
    TOLLGATE_BILLING_TRIES_MAX: '1',
    TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
  }),
  claimLeaseMs: 0,
}

export const walletLimits = { waitMs: 0, heldMs: 3_600_000, heldMax: 10_000 }

const correctionLimits = {
  pageRecords: 2,
  storedWaitMs: 0,
  previewRecordsMax: 100,
  waitMs: 0,
  triesMax: 1_000,
  retryAfterMs: 0,
}

export const usageGraceMs = runnerConfig.usageGraceMinutes * 60_000

/** Number of runs. Each run uses its own slot. */
let slots = 0

/** The payment work of the control plane, in a process that may die between any two effects. */
export class CrashingService {
  readonly process: CrashingProcess
  readonly database: Database
  readonly parts: PaymentJobParts
  readonly #publisher: PublisherParts
  readonly #wallets: WalletParts
  readonly #usage: Pick<Stores, 'usageLog' | 'usageStore'>

  constructor(
    process: CrashingProcess,
    stores: Stores,
    processor: PaymentProcessor,
    onError: (error: unknown) => void,
  ) {
    const { clock, postgres } = stores
    const logger = createLogger('money', 'silent')
    logger.error = (fields: unknown) => {
      const { err } = fields as { err?: unknown }
      if (!(err instanceof ProcessCrashedError)) onError(err)
    }
    this.process = process
    this.database = databaseOf(process, postgres.database)
    const now = (): Date => new Date(clock.now())
    const hotState = hotStateOf(process, stores.hotState)
    this.#publisher = {
      database: this.database,
      hotState,
      partitionCount: () => partitionCount,
      now,
    }
    this.#wallets = { log: stores.usageLog, hotState }
    this.#usage = stores
    const crashingProcessor = processorOf(process, processor)
    const parts = { database: this.database, publisher: this.#publisher, logger }
    this.parts = {
      database: this.database,
      processors: { of: (each) => (each === environment ? crashingProcessor : undefined) },
      commit: (operation, body) => commitAndPublish(parts, operation, body),
      hostedUrl: 'https://pay.example',
      everyone: this.database,
      now,
      logger,
    }
  }

  /** Publishes pending documents. Called at the start and repeatedly. */
  async publishPending(): Promise<void> {
    await publishPending(this.#publisher, 100)
  }

  operation(providerId: string): Operation {
    return operationIn(providerId, this.parts.now())
  }

  receive(event: ProcessorEvent): Promise<void> {
    return receiveEvents(this.database.in(environment), [event], this.parts.now())
  }

  processInbox(): Promise<boolean> {
    return processInbox(this.parts, environment)
  }

  /** Reads events from the processor. If it does not answer in time, the next round tries again. */
  async pollEvents(): Promise<void> {
    try {
      await pollEvents(this.parts, environment, pollMs)
    } catch (error) {
      if (!(error instanceof PaymentProcessorUnavailableError)) throw error
    }
  }

  reconcilePayments(): Promise<boolean> {
    return reconcilePayments(this.parts, environment)
  }

  /** Continues refunds that people requested. */
  resumeRefunds(): Promise<boolean> {
    return resumeRefunds(this.parts, environment)
  }

  rechargeWallets(): Promise<boolean> {
    return rechargeWallets(this.parts, environment)
  }

  /** Deletes the processor's customers of deleted customers. */
  removeProcessorCustomers(): Promise<boolean> {
    return removeProcessorCustomers(this.parts, environment)
  }

  /** Takes back the credits of refunded payments. */
  async takeBackCredits(): Promise<boolean> {
    const { database, logger } = this.parts
    const wallets: TakeBackParts['wallets'] = {
      hold: createHoldCredits(this.#wallets, walletLimits),
      release: createReleaseCredits(this.#wallets),
      readHot: (name) => this.#readHot(name),
    }
    return takeBackCredits({ database, publisher: this.#publisher, logger, wallets }, environment)
  }

  /** Applies the requested corrections of usage. The lease of a dead process expires immediately. */
  async applyCorrections(): Promise<void> {
    const sql = this.database.in(environment)
    const { usageLog, usageStore } = this.#usage
    const parts: CorrectionParts = {
      publisher: this.#publisher,
      eventLog: usageLog,
      usageStore,
      appendRecords: (holder, records) =>
        this.process.effect('append corrections', () =>
          usageLog.appendCorrections(holder, records),
        ),
      correctionLimits,
    }
    for (;;) {
      const claimed = await claimCorrections(sql, { rowsMax: 10, leaseMs: 0 })
      if (claimed.length === 0) return
      for (const each of claimed) await applyCorrection(parts, environment, each, () => false)
    }
  }

  /** Deletes a customer as the control plane does. */
  async closeCustomer(
    providerId: string,
    reference: string,
    settle: CustomerSettlement,
  ): Promise<void> {
    const { database, commit } = this.parts
    const closing: ClosingParts = {
      database,
      commit,
      charge: createSavedCardCharger(this.parts),
      measuring: this.#measuring(),
      readWallet: (name) => this.#readHot(name),
      holdCredits: createHoldCredits(this.#wallets, walletLimits),
      readSeller: () => Promise.resolve({ name: 'Acme' }),
    }
    await closeCustomer(closing, this.operation(providerId), reference, settle)
  }

  /** Returns undefined if the wallet is only known in the ledger. */
  #readHot(name: WalletKey): Promise<HotWallet | undefined> {
    return readWallet(this.#wallets, name, walletLimits.waitMs).catch((error: unknown) => {
      if (error instanceof UsageBehindError) return undefined
      throw error
    })
  }

  #measuring(): MeasuringParts {
    return {
      eventLog: this.#usage.usageLog,
      usageStore: this.#usage.usageStore,
      now: this.parts.now,
      storedWaitMs: runnerConfig.usageStoredWaitMs,
    }
  }

  /** Runs the billing runner for due purchases. */
  async bill(): Promise<void> {
    const { logger } = this.parts
    const parts = { publisher: this.#publisher, logger, limits: runnerConfig }
    const charging = {
      charge: createSavedCardCharger(this.parts),
      delays: { hours: runnerConfig.paymentRetryHours, jitterMs: 0 },
    }
    const renewals = createRenewals(charging)
    const measuring = this.#measuring()
    const packs = createPackSettlement(measuring)
    const usageBilling = createUsageBilling({
      charging,
      renewals,
      packs,
      delays: { graceMs: usageGraceMs, lateMs: timestampPastMsMax },
      measuring,
    })
    const within = { charging, measuring, packs, lateMs: timestampPastMsMax }
    await this.#noteCrossings()
    const all = [
      createEndedPurchases(),
      createTrialExpiry(charging),
      renewals,
      createPlanMigrations({ pageMax: 10, inFlightMax: 1 }),
      createPlanChanges(charging),
      usageBilling,
      createThresholdBilling(within),
      createRetries(charging),
      createScheduledGrants(runnerConfig, this.#wallets),
    ]
    const stopping = new AbortController().signal
    for (const job of all) {
      slots += 1
      const when = { at: new Date(slots), isByHand: true }
      await processSlot(parts, job, environment, when, stopping, () => undefined)
    }
  }

  /**
   * Notes every purchase that can be billed within its period, in place of the alert job. Those that did not reach the amount of
   * their plan are not billed. A purchase is not noted again while neither its usage, nor itself, nor its debts have changed: each
   * note is answered by a sum of stored usage, which would be the same.
   */
  async #noteCrossings(): Promise<void> {
    const { usageLog } = this.#usage
    const sql = this.database.in(environment)
    const purchases = await sql<Crossable[]>`
      select provider_id as provider, reference, customer_ref as customer, xmin::text as version,
        (select count(*) from invoices
         where provider_id = purchases.provider_id and customer_ref = purchases.customer_ref
           and status = 'open') as debts
      from purchases
      where plan_snapshot -> 'terms' ? 'billAtUnbilledMinor' and status = 'active'`
    const noted = notedStates.get(usageLog) ?? new Map<string, string>()
    notedStates.set(usageLog, noted)
    for (const { provider, reference, customer, version, debts } of purchases) {
      const state = [version, debts, usageLog.countOf(customer)].join()
      if (noted.get(reference) === state) continue
      await noteCrossing(sql, provider, reference, this.parts.now())
      noted.set(reference, state)
    }
  }
}

type Crossable = {
  readonly provider: string
  readonly reference: string
  readonly customer: string
  /** Changes with the row of the purchase. */
  readonly version: string
  /** Number of open invoices of the customer. */
  readonly debts: bigint
}

/** The state in which each purchase was last noted, by its reference. */
const notedStates = new WeakMap<UsageLog, Map<string, string>>()
