import { setUpCard } from '@tollgate/domain/settlement/set-up-card'
import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import { createPayment } from '@tollgate/domain/charging/create-payment'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import { awaitPayment } from '@tollgate/domain/settlement/await-payment'
import { startTrial } from '@tollgate/domain/billing/start-trial'
import type { Environment } from '@tollgate/schemas/environment'
import { readCarriedIn } from './read-carried-in.ts'
import type { OfferedPlan, Offers } from './catalogue.ts'
import { homes, type Home } from './homes.ts'
import type { Installation, Seller } from './installation.ts'
import { paidByCredit } from './model/balance.ts'
import { ModelCustomer, type CardHabit, type CreditSale } from './model/customer.ts'
import type { ModelInvoice } from './model/invoices.ts'
import { withTax, type ModelTax } from './model/money.ts'
import type { ModelPlan } from './model/plans.ts'
import {
  fitsMonthlyCap,
  recordRecharge,
  isRechargeDue,
  setRechargeTerms,
  type RechargeTerms,
} from './model/recharge.ts'
import type { ModelPurchase } from './model/records.ts'
import { KillSwitch } from './kill-after-effects.ts'
import type { RechargeAttempt } from './read-recharges.ts'
import type { Scheduler } from './scheduler.ts'

/** Test cards of the simulator by behaviour when saved. */
const cards: Readonly<Record<CardHabit, string>> = {
  pays: 'pm_card_visa',
  declines: 'pm_card_chargeCustomerFail',
}

/** A payment made when it was issued, for a plan or for credits. */
export type Receipt = {
  readonly processorPaymentId: string
  readonly invoice: ModelInvoice
  readonly purchase: ModelPurchase | undefined
  readonly sale: CreditSale | undefined
  /** Credits claimed by refunds so far. */
  claimed: number
}

/** A customer of the year. Each act is performed on the installation and on the model, and both must agree. */
export class Person {
  readonly reference: string
  readonly environment: Environment
  readonly seller: Seller
  readonly offers: Offers
  readonly model: ModelCustomer
  readonly receipts: Receipt[] = []
  readonly home: Home
  /** Whether the customer never states its country. */
  readonly withholdsCountry: boolean
  readonly #installation: Installation
  readonly #scheduler: Scheduler
  hasStoppedPaying = false
  isDeleted = false
  #acts = 0
  #recharges = 0

  private constructor(given: PersonParts, { reference, number }: Arrival) {
    this.#installation = given.installation
    this.#scheduler = given.scheduler
    this.seller = given.seller
    this.environment = given.environment
    this.offers = given.offers
    this.reference = reference
    this.home = homes[number % homes.length]!
    this.withholdsCountry = number % 3 === 0
    this.model = new ModelCustomer(given.seller)
  }

  static async arrive(given: PersonParts, number: number): Promise<Person> {
    const client = given.seller.clients[given.environment]
    const { reference } = await client.createCustomer({ email: `c${number}@example.com` })
    return new Person(given, { reference, number })
  }

  get now(): number {
    return this.#installation.clock.now()
  }

  async activate({ productRef, planRef, plan }: OfferedPlan): Promise<void> {
    const credit = await this.#creditFor(productRef, plan)
    const expected = this.model.activate(productRef, plan, this.now)
    const body = { customerRef: this.reference, productRef, planRef }
    const answer = await this.#send<{ status: string; purchaseRef?: string }>(
      '/v1/sdk/activate',
      body,
    )
    const isTriable = plan.trialDays !== undefined && this.model.mayTry(productRef, plan, this.now)
    if (expected === 'payment_required' && credit.paysAll && !isTriable) {
      requireEqual('activate with a credit', answer.status, 'activated')
      this.model.buy(productRef, plan, this.now, credit.part)
      this.#name(productRef, answer.purchaseRef!)
      return
    }
    requireEqual('activate', answer.status, expected)
    if (expected !== 'activated') return
    this.#name(productRef, answer.purchaseRef!)
    const sql = this.#installation.stack.database.in(this.environment)
    this.model.carriedIn = await readCarriedIn(sql)
    this.model.billChange(this.model.latest(productRef)!, this.now)
  }

  /** Pays at checkout with a card that is saved. */
  async buy({ productRef, planRef, plan }: OfferedPlan, habit: CardHabit): Promise<void> {
    const { credit, taxBefore, price } = await this.#creditFor(productRef, plan)
    const intent = await this.#pay(
      { purpose: 'product', productRef, planRef, keepsCard: true },
      cards[habit],
      (tax) => {
        const { currency } = this.model
        return withTax(price, tax) - paidByCredit({ price, credit, currency, taxBefore, tax })
      },
    )
    const isPaidByCredit = intent?.originalAmountMinor === 0n
    requireEqual('paid', intent !== undefined, habit === 'pays' || isPaidByCredit)
    if (intent === undefined) return
    const purchase = this.model.buy(productRef, plan, this.now, intent.fromBalanceMinor)
    if (isPaidByCredit) return this.#name(productRef, intent.purchaseRef!)
    this.model.keepCard(habit, this.now)
    this.#name(productRef, intent.purchaseRef!)
    this.#receive(intent, { purchase, sale: undefined, invoice: purchase.invoices[0]! })
  }

  async topUp(amount: bigint): Promise<void> {
    const request = { purpose: 'credit_topup', amountMinor: amount } as const
    const intent = await this.#pay(request, cards.pays, (tax) => withTax(amount, tax))
    if (intent === undefined) throw new Error('the top-up was not paid')
    const sale = this.model.topUp(intent.purchaseRef!, amount, this.now)
    this.#receive(intent, { purchase: undefined, sale, invoice: sale.invoice })
  }

  async setRecharge(terms: RechargeTerms): Promise<void> {
    const { code, minorPerMajor } = this.model.currency
    const major = (amount: bigint): number => Number(amount) / Number(minorPerMajor)
    const { status } = await this.seller.clients[this.environment].send(
      'PUT',
      '/v1/sdk/auto-recharge',
      {
        customerRef: this.reference,
        enabled: true,
        triggerType: 'balance',
        currency: code,
        thresholdAmountMajor: major(terms.threshold),
        topupAmountMajor: major(terms.topUp),
        ...(terms.cap === undefined ? {} : { maxMonthlySpendMajor: major(terms.cap) }),
      },
    )
    const isKept = fitsMonthlyCap(terms, this.model.tax)
    requireEqual('auto-recharge', status, isKept ? 200 : 400)
    if (!isKept) return
    this.model.recharge = setRechargeTerms(terms, this.model.recharge)
  }

  /**
   * Checks the automatic top-ups: one attempt for each round with a low balance. After a kill, it may be made in the next round, or
   * twice.
   */
  applyRecharges(attempts: readonly RechargeAttempt[], isKilled: boolean): void {
    const seen = attempts.slice(this.#recharges)
    this.#recharges = attempts.length
    if (!isKilled) requireEqual('recharges', seen.length, this.#wantsRecharge() ? 1 : 0)
    for (const attempt of seen) this.#seeRecharge(attempt)
  }

  #seeRecharge({ status, at, processorPaymentId, purchaseRef }: RechargeAttempt): void {
    const { model } = this
    if (!this.#wantsRecharge()) throw new Error(`${this.reference} is charged for nothing`)
    const isPaid = model.charge() === 'paid'
    requireEqual('recharge', status === 'succeeded', isPaid)
    recordRecharge(model.recharge!, isPaid, model.tax, at)
    if (!isPaid) return
    const sale = model.topUp(purchaseRef!, model.recharge!.topUp, at, model.card)
    this.#receive({ processorPaymentId }, { purchase: undefined, sale, invoice: sale.invoice })
  }

  #wantsRecharge(): boolean {
    const { recharge: terms, wallet, currency, tax } = this.model
    return terms !== undefined && isRechargeDue(terms, wallet.credits, currency, tax, this.now)
  }

  async startTrial({ productRef, planRef, plan }: OfferedPlan): Promise<void> {
    const mayTry = this.model.mayTry(productRef, plan, this.now)
    const operation = this.#installation.operation(this.seller, this.environment)
    const customer = await this.#customer()
    const outcome = await this.#installation
      .payments(new KillSwitch())
      .commit(operation, (work) =>
        startTrial(work, { customer, productRef, planRef, cycleMode: this.seller.mode }),
      )
    requireEqual('trial', outcome.kind, mayTry ? 'started' : 'no-trial')
    if (outcome.kind !== 'started') return
    this.model.try(productRef, plan, this.now)
    this.#name(productRef, outcome.purchase.reference)
  }

  async cancel(purchase: ModelPurchase, expected: 'done' | 'refused'): Promise<void> {
    await this.#change(purchase, 'cancel', expected)
  }

  async reactivate(purchase: ModelPurchase, expected: 'done' | 'refused'): Promise<void> {
    await this.#change(purchase, 'reactivate', expected)
  }

  /** Saves another card for later charges. */
  async changeCard(habit: CardHabit): Promise<void> {
    const name = `card-${this.#acts++}`
    const customer = await this.#customer()
    const operation = this.#installation.operation(this.seller, this.environment)
    const { setupIntentId } = await this.#scheduler.withProcess(this.environment, (killSwitch) =>
      setUpCard(this.#installation.payments(killSwitch), operation, customer, name),
    )
    const fields = { payment_method: cards[habit], return_url: 'https://shop.example/back' }
    const path = `setup_intents/${setupIntentId}/confirm`
    const { status } = await this.#installation.stripe(this.environment, path, fields)
    requireEqual('card', status, 'succeeded')
    await this.#scheduler.runPayments()
    this.model.keepCard(habit, this.now)
  }

  async grant(credits: number, terms: { priority: number; expiresAt?: number }): Promise<void> {
    const { priority, expiresAt } = terms
    const until = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }
    await this.#send(`/v1/sdk/customers/${this.reference}/credits`, {
      credits,
      priority,
      ...until,
    })
    this.model.wallet.grant(credits, terms)
  }

  /** Deletes the customer, and writes off what the refusal says is open. */
  async delete(): Promise<void> {
    const path = `/v1/ui/customers/${this.reference}`
    const client = this.seller.clients[this.environment]
    const { status, body } = await client.send('DELETE', path)
    const isRefused = (body as { code?: unknown }).code === 'customer_not_settled'
    if (this.model.hasOpenInvoices) requireEqual('delete with open invoices', isRefused, true)
    if (isRefused) {
      const { status: settled } = await client.send('DELETE', path, { settle: 'write_off' })
      requireEqual('delete with a write-off', settled, 200)
    } else {
      requireEqual('delete', status, 200)
    }
    this.model.delete(this.now)
    if (isRefused) this.model.writeOff(this.now)
    this.hasStoppedPaying = true
    this.isDeleted = true
    await this.#scheduler.runPayments()
  }

  async checkLimit(productRef: string): Promise<void> {
    const client = this.seller.clients[this.environment]
    const answer = await client.checkLimit(this.reference, productRef)
    const held = this.model.activePurchase(productRef, this.now)
    requireEqual('has a plan', answer.plan !== '', held !== undefined)
    const remaining = held === undefined ? 0 : this.model.remaining(held, this.now)
    if (remaining === undefined) return
    requireEqual('remaining', answer.remaining, remaining)
    requireEqual('withinLimits', answer.withinLimits, remaining > 0)
  }

  /** Records usage with past timestamps in one request, like a backend that reports later. */
  async use(productRef: string, uses: readonly { at: number; units: number }[]): Promise<void> {
    const events = uses.map(({ at, units }) => ({
      customerRef: this.reference,
      productRef,
      units,
      timestamp: new Date(at).toISOString(),
    }))
    const { results } = await this.seller.clients[this.environment].recordUsages(events)
    const perUnit = this.model.activePurchase(productRef, this.now)?.plan.creditsPerUnit
    for (const [index, { at, units }] of uses.entries()) {
      this.model.usage.push({ productRef, at, units, sentAt: this.now })
      if (perUnit === undefined) continue
      const taken = this.model.wallet.spend(units * perUnit)
      const debit = results[index]!.creditDebit as { amount?: number } | undefined
      requireEqual('debit', debit?.amount, taken)
    }
  }

  async #change(
    purchase: ModelPurchase,
    change: 'cancel' | 'reactivate',
    expected: 'done' | 'refused',
  ): Promise<void> {
    const { clients } = this.seller
    const path = `/v1/sdk/purchases/${purchase.reference}/${change}`
    const { status } = await clients[this.environment].send('POST', path)
    requireEqual(change, status, expected === 'done' ? 200 : 400)
  }

  /** States the country, which a payment asks for. All later payments are taxed there. */
  async #sayWhere(paymentRef: string): Promise<void> {
    const { home } = this
    const path = `/v1/sdk/payment-intents/${paymentRef}/business-details`
    await this.#send(path, home.details)
    this.model.tax = {
      ratePerMille: home.ratePerMille,
      isContained: this.model.currency.isTaxContained,
    }
  }

  /** Creates the payment and confirms it in the customer's browser. Returns undefined if it was declined. */
  async #pay(
    asked: Pick<PaymentRequest, 'purpose'> & Partial<PaymentRequest>,
    card: string,
    chargedWith: (tax: ModelTax | undefined) => bigint,
  ): Promise<PaymentIntent | undefined> {
    const request: PaymentRequest = {
      customer: await this.#customer(),
      productRef: undefined,
      planRef: undefined,
      amountMinor: undefined,
      currency: undefined,
      description: undefined,
      checkoutSessionId: undefined,
      keepsCard: false,
      recharge: undefined,
      idempotencyKey: `${this.reference}:${this.#acts++}`,
      ...asked,
    }
    const operation = this.#installation.operation(this.seller, this.environment)
    const created = await this.#scheduler.withProcess(this.environment, (killSwitch) =>
      createPayment(this.#installation.payments(killSwitch), operation, request),
    )
    if (created.kind !== 'created') throw new Error(`no payment: ${JSON.stringify(created)}`)
    const { processorPaymentId, reference } = created.intent
    if (processorPaymentId === null) {
      requireEqual('amount', 0n, chargedWith(this.model.tax))
      return created.intent
    }
    if (this.seller.isTaxed && !this.withholdsCountry && this.model.tax === undefined) {
      await this.#sayWhere(reference)
    }
    const fields = { payment_method: card, return_url: 'https://shop.example/back' }
    const path = `payment_intents/${processorPaymentId}/confirm`
    await this.#installation.stripe(this.environment, path, fields)
    const settled = await this.#scheduler.withProcess(this.environment, (killSwitch) =>
      awaitPayment(this.#installation.payments(killSwitch), operation, reference, 10_000),
    )
    if (settled.kind !== 'succeeded') return undefined
    const { originalAmountMinor: paid } = settled.intent
    requireEqual('amount', paid, chargedWith(this.model.tax))
    return settled.intent
  }

  #receive(
    { processorPaymentId }: Pick<PaymentIntent, 'processorPaymentId'>,
    bought: Pick<Receipt, 'invoice' | 'purchase' | 'sale'>,
  ): void {
    this.receipts.push({ processorPaymentId: processorPaymentId!, ...bought, claimed: 0 })
  }

  /** Returns the customer's credit, which no open payment holds, and what it pays of the plan. */
  async #creditFor(productRef: string, plan: ModelPlan) {
    const { currency, tax } = this.model
    const sql = this.#installation.stack.database.in(this.environment)
    const [carried] = await sql<{ credit: string }[]>`
      select -(amount + held) as credit from carried_amounts
      where customer_ref = ${this.reference} and currency = ${currency.code}`
    const credit = BigInt(carried?.credit ?? 0)
    const price = this.model.priceOf(productRef, plan, this.now)
    const part = paidByCredit({ price, credit, currency, taxBefore: tax, tax })
    const owes = this.model.owes(productRef)
    return { credit, price, part, taxBefore: tax, paysAll: !owes && part === withTax(price, tax) }
  }

  #name(productRef: string, purchaseRef: string): void {
    this.model.latest(productRef)!.reference = purchaseRef
  }

  async #customer(): Promise<Customer> {
    const { providerId } = this.seller
    const rows = this.#installation.stack.database.of(providerId).in(this.environment)
    const found = await rows.read((sql) => findCustomer(sql, providerId, this.reference))
    if (found === undefined) throw new Error(`there is no customer ${this.reference}`)
    return found
  }

  async #send<Body>(path: string, body: object): Promise<Body> {
    const answer = await this.seller.clients[this.environment].send('POST', path, body)
    requireEqual(`${path} ${JSON.stringify(answer.body)}`, answer.status, 200)
    return answer.body as Body
  }
}

type Arrival = { readonly reference: string; readonly number: number }

type PersonParts = {
  readonly installation: Installation
  readonly scheduler: Scheduler
  readonly seller: Seller
  readonly environment: Environment
  readonly offers: Offers
}

function requireEqual(what: string, found: unknown, expected: unknown): void {
  if (!Object.is(found, expected)) {
    throw new Error(`${what}: found ${String(found)}, expected ${String(expected)}`)
  }
}
