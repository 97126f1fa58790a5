import { activatePlan } from '@tollgate/domain/billing/activate-plan'
import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { lockBalanceUse } from '@tollgate/domain/charging/sell-from-balance'
import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import { addCarried, holdCarried } from '@tollgate/domain/invoices/carried-amounts'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { listLines } from '@tollgate/domain/invoices/lines'
import { findInvoice, lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { PreviewAt, PreviewParts } from '@tollgate/domain/previews/preview-invoices'
import type { HeldPurchase } from '@tollgate/domain/previews/preview-purchase'
import { createCoupon } from '@tollgate/domain/coupons/manage-coupons'
import { addDiscount } from '@tollgate/domain/invoice-decisions/add-discount'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import { readActivationState } from '@tollgate/domain/purchases/read-activation-state'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import {
  findDiscountedStart,
  startDiscountedPlan,
} from '@tollgate/domain/purposes/start-discounted'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { applyPaymentState } from '@tollgate/domain/settlement/apply-payment-state'
import { deliverFromBalance } from '@tollgate/domain/settlement/deliver-from-balance'
import { openIntent } from '@tollgate/domain/settlement/open-intent'
import { priceRequest } from '@tollgate/domain/settlement/price-request'
import { saveTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import type { TaxDetails } from '@tollgate/domain/tax/tax-details'
import type { PaymentIntent } from '@tollgate/platform/payments/payment-objects'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import type { AgreedPrice } from '@tollgate/schemas/http/agreed-prices'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import type { RunnerStack, Shop } from '../../../billing-runner/test/runner-stack.ts'
import type { DrawnCoupon } from './random-previews.ts'
import {
  startUsageBillingStack,
  type UsageBillingStack,
} from '../usage-billing/usage-billing-stack.ts'

const graceMs = 3_600_000

/** What became of a plan that a customer wanted to take. */
export type TakenPlan =
  | {
      readonly kind: 'activated' | 'scheduled' | 'already-active' | 'payment-required'
    }
  | { readonly kind: 'refused'; readonly reason: string }

/** The jobs that invoice, in the order in which they depend on each other. */
const invoicingJobs = [
  'ended-purchases',
  'pack-settlement',
  'trial-expiry',
  'renewals',
  'plan-changes',
  'usage-billing',
  'renewals',
] as const

/** A shop whose invoices are previewed first, and made by the billing runner afterwards. */
export class PreviewShop {
  readonly stack: UsageBillingStack
  #shop: Shop | undefined

  private constructor(stack: UsageBillingStack) {
    this.stack = stack
  }

  static async start(): Promise<PreviewShop> {
    return new PreviewShop(await startUsageBillingStack())
  }

  /** Opens a new provider in Sweden. Purchases and invoices of earlier ones are not due any more. */
  async open(at: string): Promise<void> {
    const sql = this.runner.database.in('sandbox')
    await sql`
      update purchases set next_usage_bill_at = null, usage_closes_at = null, carry_settles_at = null,
        status = 'expired'`
    await sql`update invoices set next_charge_at = null`
    await sql`update pack_accounts set due_at = null`
    await sql`delete from threshold_crossings`
    this.runner.clock.set(at)
    this.#shop = await this.runner.openShop()
    await this.within(({ sql: own, providerId, now }) =>
      changeMerchant(own, providerId, { country: 'SE', vatNumber: 'SE556012579001' }, now),
    )
  }

  get runner(): RunnerStack {
    return this.stack.runner
  }

  get shop(): Shop {
    return this.#shop!
  }

  get now(): Date {
    return new Date(this.runner.clock.now())
  }

  get at(): PreviewAt {
    return { providerId: this.shop.providerId, environment: 'sandbox', now: this.now }
  }

  parts(storedWaitMs = 10_000): PreviewParts {
    const { database, eventLog, usageStore } = this.runner.parts
    return {
      ...{ database, eventLog, usageStore, storedWaitMs, now: () => this.now },
      delays: { graceMs, lateMs: timestampPastMsMax },
    }
  }

  within<Result>(body: Parameters<typeof this.runner.within<Result>>[1]): Promise<Result> {
    return this.runner.within(this.shop, body)
  }

  /** Adds a plan. If its charges allow no bills within a period, or no minimum, the plan is added without these terms. */
  async addPlan(input: Partial<PlanCreateInput>): Promise<Plan> {
    const { billAtUnbilledMinor: _threshold, ...billedAtEnd } = input
    const { minimumCommitment: _minimum, ...plain } = billedAtEnd
    const { ramp: _ramp, ...unramped } = plain
    const add = (terms: Partial<PlanCreateInput>): Promise<Plan> =>
      this.runner.addPlan(this.shop, terms)
    return add(input)
      .catch(() => add(billedAtEnd))
      .catch(() => add(plain))
      .catch(() => add(unramped))
  }

  async buy(input: Partial<PlanCreateInput>, isTrial = false): Promise<Purchase> {
    const plan = await this.addPlan(input)
    if (!isTrial) return this.runner.buy(this.shop, plan)
    const purchase = await this.runner.startTrial(this.shop, plan)
    await this.runner.saveCard(this.shop, purchase.customerRef)
    return purchase
  }

  async held({ reference }: Pick<Purchase, 'reference'>): Promise<HeldPurchase> {
    const purchase = await this.runner.purchase(this.shop, reference)
    const customer = await this.within(({ sql, providerId }) =>
      findCustomer(sql, providerId, purchase.customerRef),
    )
    return { purchase, customer: customer! }
  }

  use(purchase: Pick<Purchase, 'customerRef'>, micros: bigint, lateMs = 0): Promise<void> {
    const { customerRef } = purchase
    const at = new Date(this.now.getTime() - lateMs)
    return this.stack.record(this.shop, [{ customerRef, micros, at }])
  }

  tax(customerRef: string, details: TaxDetails): Promise<void> {
    return this.within(({ sql, providerId, now }) =>
      saveTaxDetails(sql, providerId, customerRef, details, now),
    )
  }

  carry(customerRef: string, amountMinor: bigint): Promise<void> {
    const name = { customerRef, currency: 'USD' }
    return this.within(({ sql, providerId, now }) =>
      addCarried(sql, providerId, name, amountMinor, now),
    )
  }

  /** Gives the customer the discount of a new coupon. */
  async redeem(
    { customerRef, reference }: Purchase,
    { isOfPurchase, ...terms }: DrawnCoupon,
  ): Promise<void> {
    await this.within(async (work) => {
      const coupon = await createCoupon(work, {
        ...{ ...terms, code: null, name: 'Launch', productRefs: [], planRefs: [] },
        ...{ redemptionsMax: null, redemptionsPerCustomerMax: null, redeemBy: null },
      })
      const purchaseRef = isOfPurchase ? reference : null
      const redemption = { couponRef: coupon!.reference, customerRef, purchaseRef }
      const outcome = await addDiscount(work, redemption)
      if (outcome.kind !== 'redeemed') throw new Error(outcome.kind)
    })
  }

  /** Agrees prices of a plan with the customer. Prices that do not fit the plan are not agreed. */
  async agree(customerRef: string, prices: readonly AgreedPrice[]): Promise<void> {
    const names = { customerRef, productRef: this.shop.product.reference }
    await this.within((work) =>
      changeOverrides(work, names, { charges: [], usageLimits: [], prices }),
    )
  }

  cancel({ reference }: Pick<Purchase, 'reference'>): Promise<unknown> {
    return this.within((work) => cancelPurchase(work, reference, null))
  }

  /** Takes the plan like a customer: activates it, and pays if that is required. */
  async take(customer: Customer, plan: Plan): Promise<TakenPlan> {
    const { reference: productRef } = this.shop.product
    const planRef = plan.reference
    const outcome = await this.within((work) =>
      activatePlan(work, {
        ...{ customer, productRef, planRef },
        ...{ cycleMode: 'calendar', seller: { name: 'Acme' } },
      }),
    )
    if (outcome.kind === 'invalid') return { kind: 'refused', reason: outcome.reason }
    if (outcome.kind === 'card-required') {
      await this.#saveCard(customer)
      return this.take(customer, plan)
    }
    if (outcome.kind !== 'payment-required') return { kind: outcome.kind }
    if (await this.#startDiscounted(customer, plan)) return { kind: 'activated' }
    return (await this.#pay(customer, plan)) ?? { kind: 'payment-required' }
  }

  /** Saves a card that can be charged, in place of the one before. */
  async #saveCard({ reference }: Customer): Promise<void> {
    await this.within(
      ({ sql, providerId, now }) => sql`
        insert into customer_cards
          (provider_id, customer_ref, brand, last4, exp_month, exp_year, reusable, payment_method_id, updated_at)
        values (${providerId}, ${reference}, 'visa', '4242', 12, 2030, true, 'pm_card_visa', ${now})
        on conflict (provider_id, customer_ref) do update set payment_method_id = 'pm_card_visa'`,
    )
  }

  /** Starts a plan of which discounts leave nothing, after the customer has saved a card. */
  async #startDiscounted(customer: Customer, plan: Plan): Promise<boolean> {
    const { reference: productRef } = this.shop.product
    const seller = { name: 'Acme' }
    const request = {
      ...{ customer, productRef, planRef: plan.reference, couponRef: null, seller },
      cycleMode: 'calendar' as const,
    }
    if (await this.within((work) => startDiscountedPlan(work, request))) return true
    const ofPlan = { customerRef: customer.reference, productRef, planRef: plan.reference }
    const begun = await this.within(async (work) => {
      const { sql, providerId, now } = work
      const state = await readActivationState(sql, providerId, ofPlan)
      const product = (await findProduct(sql, providerId, productRef))!
      const input = { product, plan, ...state, isSoldOut: false, now }
      return findDiscountedStart(work, input, customer.reference, null)
    })
    if (begun === undefined) return false
    await this.#saveCard(customer)
    return (await this.within((work) => startDiscountedPlan(work, request))) !== undefined
  }

  async #pay(customer: Customer, plan: Plan): Promise<TakenPlan | undefined> {
    const { reference: productRef } = this.shop.product
    const priced = await priceRequest(this.runner.parts, this.at, {
      ...{ customer, purpose: 'product', productRef, planRef: plan.reference },
      ...{ amountMinor: undefined, currency: undefined, description: undefined },
      ...{ checkoutSessionId: undefined, recharge: undefined, keepsCard: false },
      idempotencyKey: `${customer.reference}:${plan.reference}`,
    })
    if (priced.kind === 'refused') return priced
    if (priced.kind !== 'priced') throw new Error(JSON.stringify(priced))
    const { terms, tax, planSwitch, discounts, cycleMode, sellerName } = priced
    const { plan: offered } = priced
    const draft = {
      purpose: 'product',
      ...{ customerRef: customer.reference, processorCustomerId: null },
      ...{ productRef, plan: offered, cycleMode, terms, tax, planSwitch, discounts, sellerName },
      ...{ checkoutSessionId: null, paymentMethodId: null, keepsCard: false, description: null },
      ...{ purchaseRef: null, invoiceRef: null, inputSha256: '' },
      idempotencyKey: `${customer.reference}:${plan.reference}`,
    } as const
    let isPaidByBalance = false
    await this.within(async (work) => {
      const { sql, providerId, now } = work
      const { reference: customerRef } = customer
      const fromBalanceMinor = (await lockBalanceUse(work, customerRef, priced, 'everything'))!
      const priceMinor = tax?.totalMinor ?? terms.originalAmountMinor
      if (fromBalanceMinor === priceMinor) {
        await deliverFromBalance(work, { ...draft, fromBalanceMinor }, 'https://shop.example')
        isPaidByBalance = true
        return
      }
      const balance = { customerRef, currency: terms.currency }
      await holdCarried(sql, providerId, balance, fromBalanceMinor, now)
      const rest = { processorCustomerId: 'cus_1', fromBalanceMinor }
      const { intent } = await openIntent(work, { ...draft, ...rest })
      const payment: PaymentIntent = {
        kind: 'payment_intent',
        id: `pi_${intent.reference}`,
        status: 'succeeded',
        ...{ amountMinor: intent.originalAmountMinor, currency: intent.currency },
        ...{ receivedMinor: intent.originalAmountMinor, chargeId: 'ch_1', metadata: {} },
        ...{ settlement: undefined, clientSecret: undefined, customerId: undefined },
        ...{ paymentMethodId: undefined, nextAction: undefined, lastDecline: undefined },
        createdAt: work.now,
      }
      const reading = { payment, card: undefined, isCardSaved: false }
      await applyPaymentState(work, intent.reference, reading, 'https://shop.example')
    })
    return isPaidByBalance ? { kind: 'activated' } : undefined
  }

  readonly #charge = async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
    await this.within(async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, charge.invoiceRef)
      const chargeRef = `ch_${charge.invoiceRef}`
      await payInvoice(work, invoice!, { chargeRef, amountMinor: charge.amountMinor })
    })
    return { kind: 'paid' }
  }

  /** Runs everything that is due at that time. */
  async runJobs(at: Date, jobs: readonly string[] = invoicingJobs): Promise<void> {
    for (const job of jobs) {
      await this.runner.runJob(job, at.toISOString(), this.#charge, {
        TOLLGATE_BILLING_TRIES_MAX: '1',
      })
    }
  }

  /** Returns the numbered invoices of the customer in their order, and then the drafts of periods that cost nothing. */
  async invoicesOf(customerRef: string): Promise<InvoiceWithLines[]> {
    const sql = this.runner.database.in('sandbox')
    const { providerId } = this.shop
    const rows = await sql<{ reference: string }[]>`
      select reference from invoices
      where provider_id = ${providerId} and customer_ref = ${customerRef}
      order by number nulls last`
    const whole = rows.map(async ({ reference }) => {
      const invoice = (await findInvoice(sql, providerId, reference))!
      return { ...invoice, lines: await listLines(sql, providerId, reference) }
    })
    return Promise.all(whole)
  }

  /** Number of rows that a preview must not write. */
  async countRows(): Promise<unknown> {
    const [row] = await this.runner.database.in('sandbox')`
      select (select count(*) from outbox)::int as events,
        (select count(*) from invoices)::int as invoices,
        (select count(*) from purchases)::int as purchases,
        (select count(*) from publications)::int as publications,
        (select max(updated_at) from carried_amounts) as carried`
    return row
  }

  stop(): Promise<void> {
    return this.stack.stop()
  }
}
