import { setUpCard } from '@tollgate/domain/cards/set-up-card'
import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import { createPayment } from '@tollgate/domain/payments/create-payment'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import type { PaymentRequest } from '@tollgate/domain/payments/payment-request'
import { settlePayment } from '@tollgate/domain/payments/settle-payment'
import { startTrial } from '@tollgate/domain/purchases/start-trial'
import type { Environment } from '@tollgate/schemas/environment'
import type { OfferedPlan, Offers } from './catalogue.ts'
import type { Installation, Seller } from './installation.ts'
import { ModelCustomer, type CardHabit } from './model/customer.ts'
import type { ModelPurchase } from './model/records.ts'
import { Life } from './mortal.ts'
import type { Scheduler } from './scheduler.ts'

/** What a card of the simulator does, where it is kept. */
const cards: Readonly<Record<CardHabit, string>> = {
  pays: 'pm_card_visa',
  declines: 'pm_card_chargeCustomerFail',
}

/** Money that came in, as it must be at the processor. */
export type Receipt = {
  readonly processorPaymentId: string
  readonly cents: number
  readonly purchase: ModelPurchase | undefined
  refundedCents: number
}

/** A customer of the year: what happens is done to the installation and to the model, and both must say the same. */
export class Person {
  readonly reference: string
  readonly environment: Environment
  readonly seller: Seller
  readonly offers: Offers
  readonly model: ModelCustomer
  readonly receipts: Receipt[] = []
  readonly #installation: Installation
  readonly #scheduler: Scheduler
  #acts = 0

  private constructor(given: PersonParts, reference: string) {
    this.#installation = given.installation
    this.#scheduler = given.scheduler
    this.seller = given.seller
    this.environment = given.environment
    this.offers = given.offers
    this.reference = reference
    this.model = new ModelCustomer(given.seller.mode)
  }

  static async arrive(given: PersonParts, email: string): Promise<Person> {
    const { reference } = await given.seller.clients[given.environment].createCustomer({ email })
    return new Person(given, reference)
  }

  get now(): number {
    return this.#installation.clock.now()
  }

  async activate({ productRef, planRef, plan }: OfferedPlan): Promise<void> {
    const expected = this.model.activate(productRef, plan, this.now)
    const body = { customerRef: this.reference, productRef, planRef }
    const answer = await this.#send<{ status: string; purchaseRef?: string }>(
      '/v1/sdk/activate',
      body,
    )
    requireSame('activate', answer.status, expected)
    if (expected === 'activated') this.#name(productRef, answer.purchaseRef!)
  }

  /** Pays at checkout by a card that is kept. */
  async buy({ productRef, planRef, plan }: OfferedPlan, habit: CardHabit): Promise<void> {
    const cents = this.model.priceOf(plan)
    const intent = await this.#pay(
      { purpose: 'product', productRef, planRef, keepsCard: true },
      cards[habit],
    )
    requireSame('paid', intent?.originalAmountMinor, habit === 'pays' ? BigInt(cents) : undefined)
    if (intent === undefined) return
    this.model.buy(productRef, plan, this.now)
    this.model.keepCard(habit, this.now)
    this.#name(productRef, intent.purchaseRef!)
    this.#receive(intent, this.model.latest(productRef))
  }

  async topUp(cents: number): Promise<void> {
    const request = { purpose: 'credit_topup', amountMinor: BigInt(cents) } as const
    const intent = await this.#pay(request, cards.pays)
    if (intent === undefined) throw new Error('the top-up was not paid')
    this.model.grant(cents * 100)
    this.#receive(intent, undefined)
  }

  async try({ productRef, planRef, plan }: OfferedPlan): Promise<void> {
    const held = this.model.held(productRef, this.now)
    const mayTry = held?.plan !== plan && !this.model.hasHad(plan)
    const operation = this.#installation.operation(this.seller, this.environment)
    const customer = await this.#customer()
    const outcome = await this.#installation
      .payments(new Life())
      .commit(operation, (work) =>
        startTrial(work, { customer, productRef, planRef, cycleMode: this.seller.mode }),
      )
    requireSame('trial', outcome.kind, mayTry ? 'started' : 'no-trial')
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

  /** Gives another card for what is to come. */
  async changeCard(habit: CardHabit): Promise<void> {
    const name = `card-${this.#acts++}`
    const customer = await this.#customer()
    const operation = this.#installation.operation(this.seller, this.environment)
    const { setupIntentId } = await this.#scheduler.living(this.environment, (life) =>
      setUpCard(this.#installation.payments(life), operation, customer, name),
    )
    const fields = { payment_method: cards[habit], return_url: 'https://shop.example/back' }
    const path = `setup_intents/${setupIntentId}/confirm`
    const { status } = await this.#installation.stripe(this.environment, path, fields)
    requireSame('card', status, 'succeeded')
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
    this.model.grant(credits, terms)
  }

  async checkLimit(productRef: string): Promise<void> {
    const client = this.seller.clients[this.environment]
    const answer = await client.checkLimit(this.reference, productRef)
    const held = this.model.held(productRef, this.now)
    requireSame('has a plan', answer.plan !== '', held !== undefined)
    const remaining = held === undefined ? 0 : this.model.remaining(held, this.now)
    if (remaining === undefined) return
    requireSame('remaining', answer.remaining, remaining)
    requireSame('withinLimits', answer.withinLimits, remaining > 0)
  }

  /** Uses the product at these times, as its backend tells afterwards in one call. */
  async use(productRef: string, uses: readonly { at: number; units: number }[]): Promise<void> {
    const events = uses.map(({ at, units }) => ({
      customerRef: this.reference,
      productRef,
      units,
      timestamp: new Date(at).toISOString(),
    }))
    const { results } = await this.seller.clients[this.environment].recordUsages(events)
    const perUnit = this.model.held(productRef, this.now)?.plan.creditsPerUnit
    for (const [index, { at, units }] of uses.entries()) {
      this.model.usage.push({ productRef, at, units, sentAt: this.now })
      if (perUnit === undefined) continue
      const taken = this.model.spend(units * perUnit)
      const debit = results[index]!.creditDebit as { amount?: number } | undefined
      requireSame('debit', debit?.amount, taken)
    }
  }

  /** Somebody at the provider's pays it back, or a part of it. Whether it went through. */
  async refund(receipt: Receipt, cents: number): Promise<void> {
    const fields = { payment_intent: receipt.processorPaymentId, amount: String(cents) }
    const { status } = await this.#installation.stripe(this.environment, 'refunds', fields)
    requireSame('refund', status, 'succeeded')
    receipt.refundedCents += cents
    await this.#scheduler.runPayments()
  }

  async #change(
    purchase: ModelPurchase,
    change: 'cancel' | 'reactivate',
    expected: 'done' | 'refused',
  ): Promise<void> {
    const { clients } = this.seller
    const path = `/v1/sdk/purchases/${purchase.reference}/${change}`
    const { status } = await clients[this.environment].send('POST', path)
    requireSame(change, status, expected === 'done' ? 200 : 400)
  }

  /** Makes the payment, and pays it in the customer's browser. Undefined: it was turned down. */
  async #pay(
    asked: Pick<PaymentRequest, 'purpose'> & Partial<PaymentRequest>,
    card: string,
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
    const created = await this.#scheduler.living(this.environment, (life) =>
      createPayment(this.#installation.payments(life), operation, request),
    )
    if (created.kind !== 'created') throw new Error(`no payment: ${JSON.stringify(created)}`)
    const { processorPaymentId, reference } = created.intent
    const fields = { payment_method: card, return_url: 'https://shop.example/back' }
    const path = `payment_intents/${processorPaymentId}/confirm`
    await this.#installation.stripe(this.environment, path, fields)
    const settled = await this.#scheduler.living(this.environment, (life) =>
      settlePayment(this.#installation.payments(life), operation, reference, 10_000),
    )
    return settled.kind === 'succeeded' ? settled.intent : undefined
  }

  #receive(intent: PaymentIntent, purchase: ModelPurchase | undefined): void {
    this.receipts.push({
      processorPaymentId: intent.processorPaymentId!,
      cents: Number(intent.originalAmountMinor),
      purchase,
      refundedCents: 0,
    })
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
    requireSame(`${path} ${JSON.stringify(answer.body)}`, answer.status, 200)
    return answer.body as Body
  }
}

type PersonParts = {
  readonly installation: Installation
  readonly scheduler: Scheduler
  readonly seller: Seller
  readonly environment: Environment
  readonly offers: Offers
}

function requireSame(what: string, found: unknown, expected: unknown): void {
  if (!Object.is(found, expected)) {
    throw new Error(`${what}: found ${String(found)}, expected ${String(expected)}`)
  }
}
