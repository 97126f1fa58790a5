import { readBillingRunnerConfig, type BillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce, type Totals } from '@tollgate/billing-runner/jobs/run-once'
import { openParts, publisherOf } from '@tollgate/billing-runner/open-parts'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { PaymentStack, type PaymentStackOptions } from './payment-stack.ts'

/** Customers who bought a plan with a card, and the billing runner that charges it again. */
export class RenewalStack {
  readonly payments: PaymentStack
  private sequence = 0

  private constructor(payments: PaymentStack) {
    this.payments = payments
  }

  static async start(options: PaymentStackOptions = {}): Promise<RenewalStack> {
    return new RenewalStack(await PaymentStack.start(options))
  }

  stop(): Promise<void> {
    return this.payments.stop()
  }

  get sql() {
    return this.payments.stack.database.in('sandbox')
  }

  /** What a runner of its own process is told. */
  runnerConfig(settings: Readonly<Record<string, string>> = {}): BillingRunnerConfig {
    return readBillingRunnerConfig(this.runnerEnvironment(settings))
  }

  runnerEnvironment(settings: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { stack, simulator } = this.payments
    return {
      TOLLGATE_DATA_DIR: stack.folder,
      TOLLGATE_DATABASE_URL: stack.databaseUrl,
      TOLLGATE_LOG_PARTITIONS: '4',
      TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
      TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1',
      TOLLGATE_STRIPE_TIMEOUT_MS: '2000',
      TOLLGATE_BILLING_RETRY_PAUSE_MS: '10',
      ...settings,
    }
  }

  /** Runs one job at that time, which all clocks but the processor's then have. */
  async runJob(
    name: string,
    at: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Totals> {
    const { clock, database, hotState, eventLog } = this.payments.stack
    clock.set(at)
    const config = this.runnerConfig(settings)
    const logger = createLogger('billing-runner', 'silent')
    const parts = await openParts(config, { clock, database, hotState, eventLog, logger })
    try {
      const jobs = createJobs(config, parts.charge)
      const { job } = jobs.find((each) => each.job.name === name)!
      const never = new AbortController().signal
      const slotParts = { publisher: publisherOf(parts), logger, limits: config }
      return await runOnce(slotParts, job, 'sandbox', never, () => undefined)
    } finally {
      await parts.close()
    }
  }

  /** A new customer buys the plan with the card, which is kept. */
  async buy(planRef: string, card = 'pm_card_visa'): Promise<Purchase> {
    const { payments } = this
    this.sequence += 1
    const customerRef = await payments.createCustomer()
    const asked = { customerRef, productRef: payments.productRef, planRef }
    const { body } = await payments.createIntent(`buy-${this.sequence}`, asked)
    await payments.confirm(body.processorPaymentId, card)
    const done = await payments.process<ProcessedPaymentBody>(body.processorPaymentId, customerRef)
    if (done.body.status !== 'succeeded') throw new Error(JSON.stringify(done.body))
    return (await this.purchasesOf(customerRef))[0]!
  }

  /** The customer's bank changes its mind about the saved card, or the customer uses another one from now on. */
  async replaceCard(customerRef: string, card: string): Promise<void> {
    const [row] = await this.sql<{ processor_customer_id: string }[]>`
      select processor_customer_id from processor_customers where customer_ref = ${customerRef}`
    const attached = await this.payments.stripe('POST', `payment_methods/${card}/attach`, {
      customer: row!.processor_customer_id,
    })
    await this.sql`
      update customer_cards set payment_method_id = ${attached.body.id}
      where customer_ref = ${customerRef}`
  }

  /** The customer pays something else with another card, which is kept. */
  async payWith(customerRef: string, card: string): Promise<void> {
    this.sequence += 1
    const autoRecharge = {
      enabled: true,
      triggerType: 'balance',
      currency: 'USD',
      thresholdAmountMajor: 5,
      topupAmountMajor: 20,
    }
    const topUp = { purpose: 'credit_topup', amount: 1000, currency: 'USD', autoRecharge }
    const asked = { customerRef, ...topUp }
    const { body } = await this.payments.createIntent(`pay-${this.sequence}`, asked)
    await this.payments.confirm(body.processorPaymentId, card)
    await this.payments.process(body.processorPaymentId, customerRef)
  }

  purchasesOf(customerRef: string): Promise<Purchase[]> {
    const { providerId } = this.payments.tenant
    return listPurchases(this.sql, providerId, { customerRef, rowsMax: 10 })
  }

  async purchase(reference: string): Promise<Purchase> {
    const { providerId } = this.payments.tenant
    const [purchase] = await listPurchases(this.sql, providerId, { reference, rowsMax: 1 })
    return purchase!
  }

  async invoicesOf(purchaseRef: string): Promise<Invoice[]> {
    const { providerId } = this.payments.tenant
    const page = { limit: 100, offset: 0 }
    return (await listInvoices(this.sql, providerId, { purchaseRef }, page)).invoices
  }

  /** At the processor, of the payments of those invoices. */
  async succeededChargesOf(purchaseRef: string): Promise<number> {
    const rows = await this.sql<{ processor_payment_id: string | null }[]>`
      select processor_payment_id from payment_intents
      where purchase_ref = ${purchaseRef} and invoice_ref is not null`
    let count = 0
    for (const { processor_payment_id: id } of rows) {
      if (id !== null) count += await this.payments.succeededCharges(id)
    }
    return count
  }
}
