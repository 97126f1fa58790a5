import { readBillingRunnerConfig, type BillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce, type Totals } from '@tollgate/billing-runner/jobs/run-once'
import { openParts, publisherOf, taxServiceClientOf } from '@tollgate/billing-runner/open-parts'
import type { ChargeInvoice, ChargeOutcome } from '@tollgate/domain/charging/charge-invoice'
import { jobActor } from '@tollgate/domain/audit/actor'
import { creditInvoice } from '@tollgate/domain/invoices/credit-notes'
import { listLines } from '@tollgate/domain/invoices/lines'
import { listInvoices, lockInvoice } from '@tollgate/domain/invoices/repository'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { PaymentStack, topUpTerms, type PaymentStackOptions } from './payment-stack.ts'

/** Customers who bought a plan with a card, and the billing runner that renews it. */
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
    return this.payments.sql
  }

  /** Ends all purchases and charges of earlier tests. */
  async endAll(): Promise<void> {
    await this.sql`update purchases set status = 'expired'`
    await this.sql`update invoices set next_charge_at = null`
  }

  /** Returns the configuration of a runner in a separate process. */
  runnerConfig(settings: Readonly<Record<string, string>> = {}): BillingRunnerConfig {
    return readBillingRunnerConfig(this.runnerEnvironment(settings))
  }

  runnerEnvironment(settings: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      ...this.payments.serviceSettings,
      TOLLGATE_STRIPE_TIMEOUT_MS: '2000',
      TOLLGATE_BILLING_RETRY_PAUSE_MS: '10',
      TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES: '0',
      ...settings,
    }
  }

  /**
   * Runs one job at a given time, to which all clocks except the processor's are set. `around` wraps each charge, and starts it.
   */
  async runJob(
    name: string,
    at: string,
    settings: Readonly<Record<string, string>> = {},
    around?: (charge: () => Promise<ChargeOutcome>) => Promise<ChargeOutcome>,
  ): Promise<Totals> {
    const { clock, database, hotState, eventLog } = this.payments.stack
    clock.set(at)
    const config = this.runnerConfig(settings)
    const logger = createLogger('billing-runner', 'silent')
    const parts = await openParts(config, { clock, database, hotState, eventLog, logger })
    try {
      const charged: ChargeInvoice = (request, commit) =>
        around!(() => parts.charge!(request, commit))
      const charge = around === undefined ? parts.charge : charged
      const jobs = createJobs(config, { ...parts, charge })
      const { job } = jobs.find((each) => each.job.name === name)!
      const never = new AbortController().signal
      const ask = taxServiceClientOf(config, parts)
      const slotParts = { publisher: publisherOf(parts), ask, logger, limits: config }
      return await runOnce(slotParts, job, 'sandbox', never, () => undefined)
    } finally {
      await parts.close()
    }
  }

  /** A new customer buys the plan with the card, which is saved. The default is the plan's own currency. */
  async buy(planRef: string, card = 'pm_card_visa', currency?: string): Promise<Purchase> {
    const { payments } = this
    const customerRef = await payments.createCustomer()
    await this.pay(customerRef, planRef, card, currency)
    return (await this.purchasesOf(customerRef))[0]!
  }

  async pay(customerRef: string, planRef: string, card: string, currency?: string): Promise<void> {
    const { payments } = this
    this.sequence += 1
    const request = { customerRef, productRef: payments.productRef, planRef, currency }
    const { body } = await payments.createIntent(`buy-${this.sequence}`, request)
    await payments.confirm(body.processorPaymentId, card)
    const processed = await payments.process<ProcessedPaymentBody>(
      body.processorPaymentId,
      customerRef,
    )
    if (processed.body.status !== 'succeeded') throw new Error(JSON.stringify(processed.body))
  }

  /** Replaces the saved card, as if the bank now treated it differently or the customer had chosen another one. */
  async replaceCard(customerRef: string, card: string): Promise<void> {
    const [row] = await this.sql<{ processor_customer_id: string }[]>`
      select processor_customer_id from processor_customers where customer_ref = ${customerRef}`
    const attached = await this.payments.stripe('POST', `payment_methods/${card}/attach`, {
      customer: row!.processor_customer_id,
    })
    await this.useCard(customerRef, attached.body.id)
  }

  async useCard(customerRef: string, paymentMethodId: string): Promise<void> {
    await this.sql`
      update customer_cards set payment_method_id = ${paymentMethodId}
      where customer_ref = ${customerRef}`
  }

  /** The customer pays something else with another card, which is saved. */
  async payWith(customerRef: string, card: string): Promise<void> {
    this.sequence += 1
    const topUp = { purpose: 'credit_topup', amount: 1000, currency: 'USD' }
    const request = { customerRef, ...topUp, autoRecharge: topUpTerms }
    const { body } = await this.payments.createIntent(`pay-${this.sequence}`, request)
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

  /** Returns the purchase's invoices without that of its first payment, newest first. */
  async invoicesOf(purchaseRef: string): Promise<Invoice[]> {
    const { providerId } = this.payments.tenant
    const first = await this.sql<{ reference: string }[]>`
      select invoice_ref as reference from payment_intents
      where purchase_ref = ${purchaseRef} and purpose <> 'usage_billing' and plan_switch is null`
    const isFirst = new Set(first.map(({ reference }) => reference))
    const page = { limit: 100, offset: 0 }
    const { invoices } = await listInvoices(this.sql, providerId, { purchaseRef }, page)
    return invoices.filter(({ reference }) => !isFirst.has(reference))
  }

  /** Returns the number of succeeded charges at the processor for these invoices. */
  async succeededChargesOf(purchaseRef: string): Promise<number> {
    let count = 0
    for (const id of await this.paymentsOf(purchaseRef)) {
      count += await this.payments.succeededCharges(id)
    }
    return count
  }

  /** Returns the processor ids of the payments of these invoices, oldest first. */
  async paymentsOf(purchaseRef: string): Promise<string[]> {
    const rows = await this.sql<{ processor_payment_id: string }[]>`
      select processor_payment_id from payment_intents
      where purchase_ref = ${purchaseRef} and purpose = 'usage_billing'
        and processor_payment_id is not null
      order by created_at`
    return rows.map((row) => row.processor_payment_id)
  }

  /** Reduces the due amount of the purchase's only invoice by a credit note. */
  async credit(purchaseRef: string, amountMinor: bigint): Promise<void> {
    const [{ reference } = { reference: '' }] = await this.invoicesOf(purchaseRef)
    const { database, clock } = this.payments.stack
    const { providerId } = this.payments.tenant
    const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
    const now = new Date(clock.now())
    const operation = { ...by, providerId, environment: 'sandbox', now } as const
    await runUnitOfWork(database, operation, async (work) => {
      const invoice = await lockInvoice(work.sql, providerId, reference)
      const lines = await listLines(work.sql, providerId, reference)
      const note = { lines: [{ line: 0, amountMinor }], settles: 'invoice', reason: null } as const
      const outcome = await creditInvoice(work, { ...invoice!, lines }, note)
      if (outcome.kind !== 'credited') throw new Error(outcome.kind)
    })
  }

  async refundedMinorOf(processorPaymentId: string): Promise<bigint> {
    const { body } = await this.payments.stripe('GET', 'refunds', {
      payment_intent: processorPaymentId,
    })
    const refunds = body.data as unknown as readonly { readonly amount: number }[]
    return refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  }

  /** Changes the purchase as if it had begun with a trial that ends at `endsAt` and nothing were paid. */
  async asTrial(reference: string, endsAt: string): Promise<void> {
    await this.sql`delete from billed_periods where purchase_ref = ${reference}`
    await this.sql`
      update purchases set status = 'trialing', anchor = ${endsAt}, next_billing_date = ${endsAt},
        next_reset_at = ${endsAt}, amount = 0, original_amount = null, exchange_rate = null,
        paid_at = null
      where reference = ${reference}`
  }
}
