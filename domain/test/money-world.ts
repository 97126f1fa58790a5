import type { Database } from '@tollgate/platform/database/database'
import type {
  Dispute,
  PaymentIntent as ProcessorIntent,
  Payout,
  Refund,
  Settlement,
} from '@tollgate/platform/payments/payment-objects'
import { expect } from 'vitest'
import {
  listUnbalancedCreditValues,
  listUnbalancedInvoices,
} from '../src/money-ledger/unbalanced.ts'
import { applyDispute } from '../src/settlement/apply-dispute.ts'
import { applyPaymentState } from '../src/settlement/apply-payment-state.ts'
import { applyPayout } from '../src/settlement/apply-payout.ts'
import { applyRefund } from '../src/settlement/apply-refund.ts'
import { insertIntent } from '../src/payments/intents-repository.ts'
import type { PaymentIntent } from '../src/payments/payment-intent.ts'
import { listUnbalancedWallets } from '../src/money-ledger/ledger.ts'
import { createPurchases, type BilledCustomer } from './billed-customers.ts'
import { invoicing } from './invoicing.ts'
import { MoneyModel, type PaymentTerms } from './money-model.ts'
import { WalletWorld } from './wallet-world.ts'
import { createTestIntent } from './test-intent.ts'

const providerId = 'prv_1'

type Reported<Kind> = { reported: Kind; readonly payment: PaymentTerms }

/**
 * Payments with their refunds, disputes and payouts on a real PostgreSQL and a real hot state. Events of the processor are
 * reported repeatedly and in any order, and compared with the model.
 */
export class MoneyWorld {
  readonly model = new MoneyModel()
  readonly refunds: Reported<Refund>[] = []
  readonly disputes: Reported<Dispute>[] = []
  readonly payouts: Payout[] = []
  readonly #database: Database
  readonly #wallet: WalletWorld
  readonly #billed: BilledCustomer
  readonly #name: string
  #count = 0

  private constructor(database: Database, wallet: WalletWorld, billed: BilledCustomer) {
    this.#database = database
    this.#wallet = wallet
    this.#billed = billed
    this.#name = wallet.customerRef
  }

  static async open(database: Database, number: number): Promise<MoneyWorld> {
    const [billed] = await createPurchases(database, providerId, 1)
    const wallet = await WalletWorld.open(database, number)
    const world = new MoneyWorld(database, wallet, billed!)
    await world.grant(500)
    return world
  }

  async grant(credits: number): Promise<void> {
    this.#step()
    await this.#wallet.grant(credits, 0, undefined)
    this.model.granted(BigInt(credits))
  }

  /** Holds credits for a usage record that is never written. Returns the function that releases them. */
  async holdForNothing(credits: number): Promise<() => Promise<void>> {
    await this.#wallet.use(credits, true)
    return () => this.#wallet.releaseLast()
  }

  close(): Promise<void> {
    return this.#wallet.close()
  }

  async pay(terms: Omit<PaymentTerms, 'reference'>, isSettled: boolean): Promise<void> {
    const payment = { ...terms, reference: this.#draw('txn') }
    const invoiceRef = payment.credits > 0n ? null : await this.#bill(payment)
    this.#step()
    await this.#wallet.commit(({ sql, now }) =>
      insertIntent(sql, providerId, this.#intentOf(payment, invoiceRef, now)),
    )
    if (!isSettled) await this.#reconcile(payment, undefined)
    this.model.paid(payment, isSettled)
    if (isSettled) await this.settle(payment)
  }

  /** Reports the settlement, also repeatedly and with outdated reads. */
  async settle(payment: PaymentTerms): Promise<void> {
    const [currency, amountMinor] = payment.settled
    const feeMinor = payment.fee
    const netMinor = amountMinor - feeMinor
    await this.#reconcile(payment, { amountMinor, feeMinor, netMinor, restUnits: 0n, currency })
    await this.#reconcile(payment, undefined)
    this.model.settled(payment.reference)
  }

  async use(credits: number): Promise<void> {
    this.#step()
    const taken = await this.#wallet.use(credits)
    await this.#wallet.count()
    await this.#wallet.post()
    expect(BigInt(taken)).toBe(this.model.used(BigInt(credits)))
  }

  /** A correction returns credits of usage. Take-backs that were short get them, also if their process dies first. */
  async correct(credits: number, diesFirst: boolean): Promise<void> {
    this.#step()
    const used = this.model.usedCredits
    const returned = BigInt(credits) < used ? BigInt(credits) : used
    if (returned === 0n) return
    await this.#wallet.correct(Number(returned))
    this.model.corrected(returned)
    await this.retake(diesFirst)
  }

  /** Runs the take-backs that are due again because credits came back. */
  async retake(diesFirst = false): Promise<void> {
    const due = await this.#database.in('sandbox')<{ reference: string }[]>`
      select reference from credit_take_backs
      where customer_ref = ${this.#name} and due_at is not null and taken_micros is not null
        and not is_undone
      order by due_at, reference`
    for (const { reference } of due) {
      this.#step()
      if (diesFirst) await this.#wallet.takeBack(reference, 'before the commit')
      await this.#wallet.takeBack(reference, 'nowhere')
      this.model.retaken(reference)
    }
  }

  async refund(payment: PaymentTerms, amountMinor: bigint): Promise<void> {
    const id = this.#draw('re')
    const abroad = (amount: bigint, more: bigint): Settlement => {
      const isForeign = payment.settled[0] !== payment.currency
      const moved = isForeign ? amount * 2n + more : amount
      const settled = { amountMinor: moved, restUnits: 0n, feeMinor: 0n, netMinor: moved }
      return { ...settled, currency: payment.settled[0] }
    }
    const reported: Refund = {
      kind: 'refund',
      id,
      status: 'pending',
      amountMinor,
      currency: payment.currency,
      chargeId: undefined,
      paymentIntentId: processorId(payment),
      reason: undefined,
      pendingReason: undefined,
      failureReason: undefined,
      settlement: abroad(-amountMinor, 0n),
      failureSettlement: abroad(amountMinor, 1n),
      metadata: {},
      createdAt: new Date(),
    }
    this.refunds.push({ reported, payment })
    this.model.refund(id, payment.reference, amountMinor)
    await this.reportRefund({ reported, payment }, 'pending')
  }

  async moveRefund(refund: Reported<Refund>, status: 'succeeded' | 'failed'): Promise<void> {
    this.#step()
    // The response that creates a refund does not contain its balance transaction yet.
    const unsettled = { settlement: undefined, failureSettlement: undefined }
    await this.reportRefund({ ...refund, reported: { ...refund.reported, ...unsettled } }, status)
    await this.reportRefund(refund, status)
    this.model.refundMoved(refund.reported.id, status)
  }

  async reportRefund(
    { reported, payment }: Reported<Refund>,
    status: Refund['status'],
  ): Promise<void> {
    await this.#wallet.commit((work) =>
      applyRefund(work, payment.reference, { ...reported, status }),
    )
  }

  async dispute(payment: PaymentTerms): Promise<void> {
    this.#step()
    const [currency, amount] = payment.settled
    const withdrawn = {
      amountMinor: -amount,
      restUnits: 0n,
      feeMinor: 15n,
      netMinor: -amount - 15n,
      currency,
    }
    const reported: Dispute = {
      kind: 'dispute',
      id: this.#draw('dp'),
      status: 'needs_response',
      amountMinor: payment.total,
      currency: payment.currency,
      reason: 'fraudulent',
      chargeId: 'ch_1',
      paymentIntentId: processorId(payment),
      movements: [{ id: this.#draw('move'), ...withdrawn }],
      createdAt: new Date(),
    }
    this.disputes.push({ reported, payment })
    this.model.disputed(reported.id, payment.reference, 15n)
    await this.reportDispute({ reported, payment })
  }

  /** `isSeen`: the dispute is read before it changes again. */
  async win(dispute: Reported<Dispute>, isSeen = true): Promise<void> {
    const { reported, payment } = dispute
    const { length } = reported.movements
    if (length % 2 === 0) return
    this.#step()
    const [currency, amountMinor] = payment.settled
    const back = {
      id: this.#draw('move'),
      amountMinor,
      restUnits: 0n,
      feeMinor: 0n,
      netMinor: amountMinor,
    }
    const movements = [...reported.movements, { ...back, currency }]
    dispute.reported = { ...reported, status: 'won', movements }
    this.model.won(length > 1 ? `${reported.id}:2` : reported.id, payment.reference)
    if (!isSeen) return
    await this.reportDispute(dispute)
    // An outdated read.
    await this.reportDispute({ reported, payment })
  }

  /** The bank withdraws the money again after the dispute was won. */
  async lose(dispute: Reported<Dispute>): Promise<void> {
    const { reported, payment } = dispute
    if (reported.movements.length !== 2) return
    this.#step()
    const [withdrawn] = reported.movements
    const movements = [...reported.movements, { ...withdrawn!, id: this.#draw('move') }]
    dispute.reported = { ...reported, status: 'lost', movements }
    this.model.disputed(`${reported.id}:2`, payment.reference, 15n)
    await this.reportDispute(dispute)
    // An outdated read.
    await this.reportDispute({ reported, payment })
  }

  async reportDispute({ reported, payment }: Reported<Dispute>): Promise<void> {
    await this.#wallet.commit((work) => applyDispute(work, payment.reference, reported))
  }

  async payOut(currency: string): Promise<void> {
    const amountMinor = this.model.of('clearing', currency)
    if (amountMinor <= 0n) return
    const payout: Payout = {
      kind: 'payout',
      id: this.#draw('po'),
      status: 'paid',
      amountMinor,
      restUnits: 0n,
      currency,
      arrivalDate: new Date(),
      failureCode: undefined,
      failureMessage: undefined,
      createdAt: new Date(),
    }
    this.payouts.push(payout)
    await this.reportPayout(payout, 'paid')
    this.model.paidOut(currency, amountMinor)
    expect(this.model.of('clearing', currency)).toBe(0n)
  }

  async failPayout(payout: Payout): Promise<void> {
    await this.reportPayout(payout, 'failed')
    this.model.paidOut(payout.currency, -payout.amountMinor)
  }

  async reportPayout(payout: Payout, status: Payout['status']): Promise<void> {
    await this.#wallet.commit((work) => applyPayout(work, { ...payout, status }))
  }

  /** Removes and restores credits, also with a process that dies in between. */
  async followUp(diesFirst: boolean): Promise<void> {
    for (const reference of this.model.waiting) {
      this.#step()
      if (diesFirst) await this.#wallet.takeBack(reference, 'before the commit')
      await this.follow(reference)
    }
  }

  async follow(reference: string): Promise<void> {
    await this.#wallet.takeBack(reference, 'nowhere')
    this.model.creditsFollowed(reference)
    await this.#wallet.takeBack(reference, 'nowhere')
    this.model.retaken(reference)
    await this.retake()
  }

  async check(): Promise<void> {
    expect(await this.#accounts()).toEqual(this.model.accounts())
    const credits = this.model.credits
    expect(BigInt(await this.#wallet.left())).toBe(credits)
  }

  /** Runs the checks of `tollgate ledger verify`. */
  async verify(): Promise<void> {
    const sql = this.#database.in('sandbox')
    expect(await listUnbalancedWallets(sql, 9)).toEqual([])
    expect(await listUnbalancedCreditValues(sql, 9)).toEqual([])
    expect(await listUnbalancedInvoices(sql, 9)).toEqual([])
  }

  async #accounts(): Promise<Record<string, string>> {
    const customers = [this.#name, this.#billed.customerRef]
    const rows = await this.#database.in('sandbox')<{ name: string; sum: string }[]>`
      select account || ' ' || unit as name, sum(amount) from ledger_entries
      join ledger_transactions on reference = transaction_ref
      where unit <> 'credits' and (ledger_entries.customer_ref = any(${customers})
        or transaction_key like ${`payout:po_${this.#name}_%`})
      group by 1 having sum(amount) <> 0`
    return Object.fromEntries(rows.map(({ name, sum }): [string, string] => [name, sum]))
  }

  /** Returns the reference of an invoice over the amount. */
  async #bill({ total, currency }: PaymentTerms): Promise<string> {
    return invoicing(this.#database, providerId, this.#billed, this.#count).charge(
      Number(total),
      currency,
    )
  }

  async #reconcile(payment: PaymentTerms, settlement: Settlement | undefined): Promise<void> {
    const look: ProcessorIntent = {
      kind: 'payment_intent',
      id: processorId(payment),
      status: 'succeeded',
      amountMinor: payment.total,
      receivedMinor: payment.total,
      currency: payment.currency,
      chargeId: 'ch_1',
      settlement,
      clientSecret: undefined,
      customerId: undefined,
      paymentMethodId: undefined,
      nextAction: undefined,
      lastDecline: undefined,
      metadata: {},
      createdAt: new Date(),
    }
    await this.#wallet.commit((work) =>
      applyPaymentState(
        work,
        payment.reference,
        { payment: look, card: undefined, isCardSaved: false },
        'https://shop.example',
      ),
    )
  }

  #intentOf(
    { reference, currency, total, tax, credits }: PaymentTerms,
    invoiceRef: string | null,
    now: Date,
  ): PaymentIntent {
    const breakdown = {
      treatment: 'standard',
      ratePerMille: '200',
      country: 'SE',
      subtotalMinor: total - tax,
      taxMinor: tax,
      totalMinor: total,
      isInclusive: true,
    } as const
    return createTestIntent(
      {
        reference,
        purpose: invoiceRef === null ? 'credit_topup' : 'usage_billing',
        customerRef: invoiceRef === null ? this.#name : this.#billed.customerRef,
        amountMinor: total,
        originalAmountMinor: total,
        currency,
        tax: tax === 0n ? null : breakdown,
        credits: credits === 0n ? null : credits,
        invoiceRef,
      },
      now,
    )
  }

  #draw(prefix: string): string {
    this.#count += 1
    return `${prefix}_${this.#name}_${this.#count}`
  }

  #step(): void {
    this.#wallet.nowMs += 1_000
  }
}

function processorId({ reference }: PaymentTerms): string {
  return `pi_${reference}`
}
