import type { Installation } from './installation.ts'
import type { CreditSale } from './model/customer.ts'
import { isReturned, refundInvoice, type ModelInvoice } from './model/invoices.ts'
import type { ModelPurchase } from './model/records.ts'
import type { Taken } from './model/wallet.ts'
import type { Person, Receipt } from './person.ts'
import { readCarriedIn } from './read-carried-in.ts'
import type { Scheduler } from './scheduler.ts'

/** A dispute that has withdrawn money and is not decided yet. */
type OpenDispute = {
  readonly id: string
  readonly person: Person
  readonly invoice: ModelInvoice
  /** The purchase that the payment paid for. Undefined for credits. */
  readonly purchase: ModelPurchase | undefined
  /** Credits that were taken back because of it. */
  readonly taken: readonly Taken[]
}

/** Acts of the provider's staff and of banks on payments. */
export class Desk {
  readonly #installation: Installation
  readonly #scheduler: Scheduler
  readonly #disputes: OpenDispute[] = []

  constructor(installation: Installation, scheduler: Scheduler) {
    this.#installation = installation
    this.#scheduler = scheduler
  }

  /**
   * Refunds a receipt. Credits are taken back with the money that bought them, as far as they are left. A plan ends if all of it is
   * refunded before its renewal.
   */
  async refundReceipt(person: Person, receipt: Receipt, amount: bigint): Promise<void> {
    const { invoice, purchase, sale } = receipt
    await this.#refund(person, receipt.processorPaymentId, amount)
    refundInvoice(invoice, amount)
    if (sale !== undefined) takeBackCredits(person, receipt, sale, invoice.refunded)
    if (purchase === undefined || !isReturned(invoice)) return
    if (!isChargedLater(purchase, -Infinity)) await this.#endRefunded(person, purchase)
  }

  /** Refunds an invoice. The last charged period ends with its money. Earlier periods were already used. */
  async refundInvoice(
    person: Person,
    purchase: ModelPurchase,
    invoice: ModelInvoice,
    amount: bigint,
  ): Promise<void> {
    await this.#refund(person, await this.#paymentOf(person, purchase, invoice), amount)
    refundInvoice(invoice, amount)
    const { period } = invoice
    if (!isReturned(invoice) || period === undefined) return
    if (!isChargedLater(purchase, period.start)) await this.#endRefunded(person, purchase)
  }

  async #endRefunded(person: Person, purchase: ModelPurchase): Promise<void> {
    const sql = this.#installation.stack.database.in(person.environment)
    person.model.carriedIn = await readCarriedIn(sql)
    person.model.refund(purchase, person.now)
  }

  async disputeReceipt(person: Person, receipt: Receipt): Promise<void> {
    const { processorPaymentId, invoice, purchase, sale } = receipt
    const id = await this.#dispute(person, processorPaymentId)
    invoice.isDisputed = true
    const taken = sale === undefined ? [] : takeBackCredits(person, receipt, sale, invoice.paid)
    this.#disputes.push({ id, person, invoice, purchase, taken })
  }

  async disputeInvoice(
    person: Person,
    purchase: ModelPurchase,
    invoice: ModelInvoice,
  ): Promise<void> {
    const id = await this.#dispute(person, await this.#paymentOf(person, purchase, invoice))
    invoice.isDisputed = true
    this.#disputes.push({ id, person, invoice, purchase, taken: [] })
  }

  /**
   * Closes the oldest dispute. Returns false if there is none. If the seller wins, it gets the money back and the customer gets the
   * credits back.
   */
  async closeDispute(ending: 'won' | 'lost'): Promise<boolean> {
    const dispute = this.#disputes.shift()
    if (dispute === undefined) return false
    const { id, person, invoice, purchase, taken } = dispute
    await this.#installation.simulator.admin(`disputes/${id}/close`, { ending })
    await this.#scheduler.runPayments()
    if (person.isDeleted) return true
    if (ending === 'won') person.model.wallet.giveBack(taken)
    else person.model.loseDispute(invoice, purchase, person.now)
    return true
  }

  async #refund(person: Person, paymentId: string, amount: bigint): Promise<void> {
    const { environment, model } = person
    const fields = {
      payment_intent: paymentId,
      amount: String(amount * model.currency.processorUnits),
    }
    const answer = await this.#installation.stripe(environment, 'refunds', fields)
    if (answer.status !== 'succeeded') throw new Error(`no refund: ${JSON.stringify(answer)}`)
    await this.#scheduler.runPayments()
  }

  async #dispute({ environment }: Person, paymentId: string): Promise<string> {
    const chargeId = await this.#installation.chargeOf(environment, paymentId)
    const path = `charges/${chargeId}/dispute`
    const { id } = await this.#installation.simulator.admin(path)
    await this.#scheduler.runPayments()
    return id as string
  }

  /** Returns the payment of an invoice. It is found by its lines, because late usage of one period may be on several invoices. */
  async #paymentOf(
    { environment }: Person,
    { reference }: ModelPurchase,
    { lines, total }: ModelInvoice,
  ): Promise<string> {
    const ofPeriod = lines.filter(({ start }) => start !== undefined)
    const { kind, start } = ofPeriod.find((line) => line.kind !== 'late_usage') ?? ofPeriod[0]!
    const rows = await this.#installation.stack.database.in(environment)<{ id: string }[]>`
      select intent.processor_payment_id as id from payment_intents as intent
      join invoices as invoice on invoice.provider_id = intent.provider_id
        and invoice.reference = intent.invoice_ref
      join invoice_lines as line on line.provider_id = invoice.provider_id
        and line.invoice_ref = invoice.reference
      where intent.status = 'succeeded' and invoice.purchase_ref = ${reference}
        and invoice.status <> 'void' and invoice.total = ${total.toString()} and line.kind = ${kind}
        and line.period_start = ${new Date(start!)}
      order by invoice.created_at desc limit 1`
    if (rows[0] === undefined) throw new Error(`no payment of ${kind} of ${reference}`)
    return rows[0].id
  }
}

/** Returns whether an invoice charges a period that starts later. */
function isChargedLater({ invoices }: ModelPurchase, start: number): boolean {
  return invoices.some(
    ({ status, period }) => status !== 'void' && period !== undefined && period.start > start,
  )
}

/** Takes back the credits bought with the refunded part of the payment, rounded down for the total refunded so far. */
function takeBackCredits(
  { model }: Person,
  receipt: Receipt,
  { credits, grant, invoice }: CreditSale,
  paidBack: bigint,
): Taken[] {
  const upTo = Number((BigInt(credits) * paidBack) / invoice.paid)
  const taken = model.wallet.takeBack(upTo - receipt.claimed, grant)
  receipt.claimed = upTo
  return taken
}
