import { sharedAllowance } from './allowance.ts'
import { boundary, indexAt, type Mode, type ModelCycle } from './calendar.ts'
import {
  dueOf,
  issue,
  keyOf,
  lineKey,
  sell,
  staysDraft,
  type ModelInvoice,
  type ModelLine,
  type Sale,
} from './invoices.ts'
import { continuationsOf } from './chains.ts'
import { isChargedBack } from './disputes.ts'
import { suspend } from './jobs.ts'
import { creditsFor, type ModelCurrency, type ModelTax } from './money.ts'
import type { ModelPlan } from './plans.ts'
import {
  begin,
  beginSwitched,
  endAt,
  givesAccess,
  isOpen,
  endIfDue,
  type Begin,
} from './purchase.ts'
import type { ModelCharge, ModelPurchase, UsageRecord } from './records.ts'
import type { ModelRecharge } from './recharge.ts'
import { costOf, switchTo, type ModelSwitch } from './switch.ts'
import { undoPlanChange } from './undo.ts'
import { ModelWallet, type ModelGrant } from './wallet.ts'

/** A purchase of credits. */
export type CreditSale = {
  readonly reference: string
  readonly credits: number
  readonly invoice: ModelInvoice
  readonly grant: ModelGrant
}

/** Work that a process left undone when it died after billing usage. */
export type UnfinishedCharges = {
  /** Times at which invoices without an attempt are charged, by each of their lines. */
  readonly charges: ReadonlyMap<string, number>
}

export const noUnfinishedCharges: UnfinishedCharges = { charges: new Map() }

/** Behaviour of a saved card at every future charge. Undefined if no card is saved. */
export type CardHabit = 'pays' | 'declines'

/** Properties that a seller's customers share. */
type ModelSeller = Pick<ModelCustomer, 'mode' | 'currency' | 'issuesZero'>

/** The expected state of a customer. */
export class ModelCustomer {
  readonly mode: Mode
  readonly currency: ModelCurrency
  /** Whether periods that cost nothing have an invoice. */
  readonly issuesZero: boolean
  readonly purchases: ModelPurchase[] = []
  readonly usage: UsageRecord[] = []
  readonly wallet = new ModelWallet()
  readonly creditSales: CreditSale[] = []
  tax: ModelTax | undefined
  /**
   * Amounts carried from earlier invoices, by a line of each invoice and the number of earlier invoices with the same line, because
   * late usage of one period may be billed more than once. The order of invoices issued at once is undefined, so these amounts are
   * read from the installation. `carried` checks that none is lost.
   */
  carriedIn: ReadonlyMap<string, bigint> = new Map()
  unfinished: UnfinishedCharges = noUnfinishedCharges
  recharge: ModelRecharge | undefined
  /** Number of the saved card. */
  card: number | undefined
  #habit: CardHabit | undefined
  /** Amount that would have been carried to the next invoice, given up when the customer was deleted. */
  #writtenOff = 0n
  #cards = 0
  readonly #lostCards = new Set<number>()
  readonly #changes = new Map<ModelPurchase, ModelSwitch>()

  constructor({ mode, currency, issuesZero }: ModelSeller) {
    this.mode = mode
    this.currency = currency
    this.issuesZero = issuesZero
  }

  /** Saves another card. Everything that could not be charged is charged to it soon. */
  keepCard(habit: CardHabit, at: number): void {
    this.card = this.#draw()
    this.#habit = habit
    if (this.recharge !== undefined) Object.assign(this.recharge, { status: 'active', failures: 0 })
    for (const { invoices } of this.purchases) {
      for (const invoice of invoices) {
        if (invoice.status !== 'open' || invoice.failures === 0) continue
        Object.assign(invoice, { nextCharge: at, touchedAt: at })
      }
    }
  }

  sale({ reference, invoices }: ModelPurchase, charges: readonly ModelLine[]): Sale {
    const { currency, tax, issuesZero } = this
    const key = keyOf(reference, charges)
    const before = invoices.filter(({ lines }) =>
      lines.some((line) => lineKey(reference, line) === key),
    )
    return {
      currency,
      tax,
      issuesZero,
      carriedIn: this.carriedIn.get(`${key} ${before.length}`) ?? 0n,
    }
  }

  /** Returns the time of the charge if no process has attempted it yet. */
  unfinishedChargeAt(
    { reference }: ModelPurchase,
    lines: readonly ModelLine[],
  ): number | undefined {
    return this.unfinished.charges.get(keyOf(reference, lines))
  }

  /** Deletes the customer: nothing continues and nothing is charged. */
  delete(at: number): void {
    for (const purchase of this.purchases) {
      const isOver =
        endIfDue(purchase, at) || !(isOpen(purchase) || purchase.status === 'suspended')
      if (!isOver) {
        purchase.cancelledAt = at
        endAt(purchase, 'cancelled', at)
      }
      Object.assign(purchase.usageBook, { billedUntil: null, closesAt: null })
      for (const invoice of purchase.invoices) {
        if (invoice.nextCharge === null) continue
        Object.assign(invoice, { nextCharge: null, touchedAt: at })
      }
    }
    this.recharge = undefined
    this.#habit = undefined
  }

  get hasOpenInvoices(): boolean {
    return this.#invoices().some((invoice) => invoice.status === 'open' && dueOf(invoice) > 0n)
  }

  /** Gives up what the customer owes: open invoices, and the amount carried to the next one. */
  writeOff(at: number): void {
    if (this.carried > 0n) this.#writtenOff += this.carried
    for (const invoice of this.#invoices()) {
      if (invoice.status !== 'open' || dueOf(invoice) === 0n) continue
      Object.assign(invoice, { status: 'uncollectible', touchedAt: at })
    }
  }

  #invoices(): readonly ModelInvoice[] {
    return this.purchases.flatMap(({ invoices }) => invoices)
  }

  #draw(): number {
    this.#cards += 1
    return this.#cards
  }

  /** A dispute is lost for an invoice, and perhaps a purchase. The card is no longer charged. */
  loseDispute(invoice: ModelInvoice, purchase: ModelPurchase | undefined, at: number): void {
    invoice.isLost = true
    if (invoice.paidBy !== undefined) this.#lostCards.add(invoice.paidBy)
    if (this.recharge !== undefined && this.charge() === 'no card') {
      Object.assign(this.recharge, { status: 'pending_setup', failures: 0 })
    }
    if (purchase === undefined) return
    const last = continuationsOf(this.purchases, purchase).at(-1)
    if (last?.plan.price === 0) return
    const { status } = last ?? purchase
    const isOpenPaid = status === 'active' || status === 'past_due'
    if (isOpenPaid && isChargedBack(last ?? purchase)) suspend(last ?? purchase, at)
  }

  /** Amount carried to the next invoice. */
  get carried(): bigint {
    return this.#invoices()
      .filter(({ status }) => status !== 'void')
      .reduce(
        (sum, { carried, carriedIn, kept }) => sum + carried - carriedIn - kept,
        -this.#writtenOff,
      )
  }

  charge(): ModelCharge {
    const { card } = this
    if (this.#habit === undefined || card === undefined || this.#lostCards.has(card)) {
      return 'no card'
    }
    return this.#habit === 'pays' ? 'paid' : 'declined'
  }

  /** Returns the deciding purchase of the product: the one with access, or the newest. */
  latest(productRef: string): ModelPurchase | undefined {
    const ofProduct = this.purchases.filter((purchase) => purchase.productRef === productRef)
    return ofProduct.findLast(isOpen) ?? ofProduct.at(-1)
  }

  activePurchase(productRef: string, at: number): ModelPurchase | undefined {
    const last = this.latest(productRef)
    return last !== undefined && givesAccess(last, at) ? last : undefined
  }

  /** Returns whether an invoice for the product is unpaid. An invoice for a period that never begins is not owed. */
  owes(productRef: string): boolean {
    return this.purchases
      .filter((purchase) => purchase.productRef === productRef)
      .some(({ endedAt, invoices }) =>
        invoices.some((invoice) => {
          const isUnpaid = invoice.status === 'open' || invoice.status === 'uncollectible'
          const hasUsage = invoice.lines.some(({ kind }) => kind.endsWith('usage'))
          const neverBegins = endedAt !== null && invoice.period !== undefined && !hasUsage
          return isUnpaid && dueOf(invoice) > 0n && !neverBegins
        }),
      )
  }

  /** Returns the result of the operation of the same name (3.9). */
  activate(productRef: string, plan: ModelPlan, at: number) {
    if (this.activePurchase(productRef, at)?.plan === plan) return 'already_active'
    if (this.owes(productRef)) return 'payment_required'
    const isFree = plan.price === 0 && plan.type === 'recurring'
    const change = this.#switchTo(productRef, plan, at)
    if (this.needsPayment(productRef, plan, at)) return 'payment_required'
    if (isFree && plan.cap !== undefined && this.#hadThisPeriod(plan, at)) return 'invalid'
    this.#replace({ productRef, plan, at, how: 'activated', amount: 0n }, change)
    return 'activated'
  }

  /** Returns whether the customer can try the plan. A change within a paid period is charged, so it cannot be a trial. */
  mayTry(productRef: string, plan: ModelPlan, at: number): boolean {
    if (this.activePurchase(productRef, at)?.plan === plan || this.owes(productRef)) return false
    if (this.purchases.some((purchase) => purchase.plan === plan)) return false
    return this.#switchTo(productRef, plan, at) === undefined
  }

  needsPayment(productRef: string, plan: ModelPlan, at: number): boolean {
    const change = this.#switchTo(productRef, plan, at)
    if (change !== undefined) return costOf(change) >= this.currency.chargeMin
    return plan.type !== 'usage-based' && plan.price > 0
  }

  /** Carries the cost of a change without a payment to the next invoice. */
  billChange(purchase: ModelPurchase, at: number): void {
    const charges = this.#changes.get(purchase)?.charges ?? []
    if (charges.length === 0) return
    const sale = this.sale(purchase, charges)
    if (staysDraft(charges, sale)) return
    purchase.invoices.push(issue(charges, undefined, sale, at))
  }

  /** Applies a full refund. Purchases that continued its period for the difference end too. */
  refund(purchase: ModelPurchase, at: number): void {
    if (purchase.status === 'refunded') return
    for (const carried of undoPlanChange(this.purchases, purchase, at))
      this.#takeBackChange(carried, at)
  }

  /** Issues an opposite invoice for the amount that a change carried, while all of it is still carried. */
  #takeBackChange(purchase: ModelPurchase, at: number): void {
    for (const { status, carried, paid, lines } of [...purchase.invoices]) {
      if (status !== 'paid' || carried === 0n || paid !== 0n) continue
      if (!lines.some(({ kind }) => kind === 'proration')) continue
      const own = lines.filter(({ kind }) => kind !== 'carried_in')
      const amount = own.reduce((sum, line) => sum + line.amount, 0n)
      if (amount < 0n ? this.carried > amount : this.carried < amount) continue
      const charged = own.filter(({ kind }) => kind === 'proration' || kind === 'setup_fee')
      const charges = charged.map((line) => ({ ...line, amount: -line.amount }))
      purchase.invoices.push(issue(charges, undefined, this.sale(purchase, charges), at))
    }
  }

  /** Returns the amount of the first payment without tax. The setup fee is due once. */
  priceOf(productRef: string, plan: ModelPlan, at: number): bigint {
    const change = this.#switchTo(productRef, plan, at)
    return change === undefined ? BigInt(plan.price) + this.#feeOf(plan) : costOf(change)
  }

  /** `credit` is the part of the price that an earlier credit pays. */
  buy(productRef: string, plan: ModelPlan, at: number, credit = 0n): ModelPurchase {
    const change = this.#switchTo(productRef, plan, at)
    const fee = this.#feeOf(plan)
    const amount = BigInt(plan.price) + fee
    const purchase = this.#replace({ productRef, plan, at, how: 'paid', amount }, change)
    const charges = change?.charges ?? firstCharges(purchase, fee)
    // The saved card is set later by the function that pays.
    purchase.invoices.push(sell(charges, this, { at, card: this.#cards + 1 }, credit))
    return purchase
  }

  /** Buys credits with a card that is not saved, except for automatic top-ups. */
  topUp(reference: string, amount: bigint, at: number, card = this.#draw()): CreditSale {
    const credits = creditsFor(amount, this.currency)
    const invoice = sell([{ kind: 'credits', amount }], this, { at, card })
    const sale = { reference, credits, invoice, grant: this.wallet.grant(credits) }
    this.creditSales.push(sale)
    return sale
  }

  try(productRef: string, plan: ModelPlan, at: number): void {
    this.#replace({ productRef, plan, at, how: 'tried', amount: 0n })
  }

  /** Returns the units used in a period, by the times of the records. */
  used(productRef: string, from: number, until: number): number {
    return this.usage
      .filter((record) => record.productRef === productRef)
      .filter(({ at }) => at >= from && at < until)
      .reduce((sum, { units }) => sum + units, 0)
  }

  /**
   * Returns the limit check's remaining units for a free plan with a cap or a plan paid from the wallet. Undefined for other plans.
   */
  remaining(purchase: ModelPurchase, at: number): number | undefined {
    const { plan, productRef, anchor, mode, allowance } = purchase
    if (plan.creditsPerUnit !== undefined)
      return Math.floor(this.wallet.credits / plan.creditsPerUnit)
    if (plan.cap === undefined || plan.cycle === undefined) return undefined
    const index = indexAt(plan.cycle, mode, anchor, at)
    const start = boundary(plan.cycle, mode, anchor, index)
    const isFirst = start <= purchase.startedAt
    const from = isFirst ? (allowance?.since ?? purchase.startedAt) : start
    const cap = isFirst ? Math.floor(purchase.firstCap ?? plan.cap) : plan.cap
    const until = boundary(plan.cycle, mode, anchor, index + 1)
    return Math.max(0, cap - this.used(productRef, from, until))
  }

  #hadThisPeriod(plan: ModelPlan, at: number): boolean {
    const last = this.purchases.findLast((purchase) => purchase.plan === plan)
    if (last === undefined) return false
    const { anchor, mode, endedAt, end } = last
    const lastMoment = Math.max(anchor, (endedAt ?? end ?? at) - 1)
    return indexAt(plan.cycle!, mode, anchor, lastMoment) === indexAt(plan.cycle!, mode, anchor, at)
  }

  /** Returns whether a purchase of the plan was paid and not fully refunded. */
  #hasPaidFor(plan: ModelPlan): boolean {
    const keepsMoney = ({ status, invoices }: ModelPurchase): boolean =>
      status !== 'refunded' || invoices.some(({ paid, refunded }) => paid > refunded)
    return this.purchases.some((each) => each.plan === plan && each.amount > 0n && keepsMoney(each))
  }

  #switchTo(productRef: string, plan: ModelPlan, at: number): ModelSwitch | undefined {
    return switchTo(plan, this.activePurchase(productRef, at), !this.#hasPaidFor(plan), at)
  }

  #feeOf(plan: ModelPlan): bigint {
    return BigInt(this.#hasPaidFor(plan) ? 0 : (plan.setupFee ?? 0))
  }

  #replace(next: Omit<Begin, 'mode'>, change?: ModelSwitch): ModelPurchase {
    const last = this.latest(next.productRef)
    const given = { ...next, mode: this.mode }
    const started = change === undefined ? begin(given) : beginSwitched(given, change)
    const isPaid = next.how === 'paid' && change === undefined
    const firstCap = change?.cap
    const sharing = firstCap === undefined ? last : undefined
    const allowance = sharedAllowance(sharing, started, isPaid, next.at)
    const hasLapsed = last !== undefined && endIfDue(last, next.at)
    const replaces = last !== undefined && !hasLapsed && isOpen(last)
    // A suspended purchase does not become active again next to another one.
    const isOver = replaces || (last !== undefined && last.status === 'suspended')
    if (isOver) endAt(last, 'expired', next.at)
    const purchase = { ...started, allowance, firstCap }
    if (replaces) {
      purchase.events.push('purchase.plan_changed')
      purchase.before = last
    }
    if (change !== undefined) this.#changes.set(purchase, change)
    this.purchases.push(purchase)
    return purchase
  }
}

function firstCharges({ plan, mode, anchor }: ModelPurchase, fee: bigint): ModelLine[] {
  const amount = BigInt(plan.price)
  const price: ModelLine =
    plan.cycle === undefined
      ? { kind: 'one_time', amount }
      : { kind: 'recurring', ...periodFrom(plan.cycle, mode, anchor), amount }
  return [price, ...(fee === 0n ? [] : [{ kind: 'setup_fee', amount: fee } as const])]
}

function periodFrom(cycle: ModelCycle, mode: Mode, start: number) {
  return { start, end: boundary(cycle, mode, start, 1) }
}
