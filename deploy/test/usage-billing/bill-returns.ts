import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type {
  DecisionOutcome,
  InvoiceChange,
} from '@tollgate/domain/invoice-decisions/invoice-decision'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { applyDispute } from '@tollgate/domain/settlement/apply-dispute'
import { applyRefund } from '@tollgate/domain/settlement/apply-refund'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import type { Dispute, Refund } from '@tollgate/platform/payments/payment-objects'
import { expect } from 'vitest'
import { refundAtProcessor } from '../../../domain/test/refund-world.ts'
import { applyCorrections } from './apply-corrections.ts'
import { correctionOf } from './correction-of.ts'
import type { UsageShop } from './usage-shop.ts'

/** Counts the disputes of all purchases, whose ids must differ. */
let disputes = 0

/** What happens to the bills of one purchase besides their payment. */
export class BillReturns {
  readonly purchase: Purchase
  readonly #usageShop: UsageShop
  /** Days of 2026 at which the next bills are made. */
  readonly #dates = [
    '03-31',
    '04-30',
    '05-31',
    '06-30',
    '07-31',
    '08-31',
    '09-30',
    '10-31',
    '11-30',
    '12-31',
  ]
  readonly #disputes = new Map<string, string>()

  constructor(usageShop: UsageShop, purchase: Purchase) {
    this.#usageShop = usageShop
    this.purchase = purchase
  }

  /** Corrects each record of the usage to so many units, and makes the next bill. */
  async correctTo(
    units: number,
    filter: Parameters<typeof correctionOf>[1] = {},
    charge = this.#usageShop.paying,
  ): Promise<void> {
    const { runner, shop } = this.#usageShop
    const correction = correctionOf(this.purchase, filter)
    await runner.within(shop, (work) =>
      requestCorrection(work, {
        ...correction,
        ...(units === 0 ? {} : { action: 'set', valueMicros: BigInt(units) * 1_000_000n }),
      }),
    )
    await applyCorrections(runner, shop.providerId)
    await this.nextBill(charge)
  }

  async nextBill(charge = this.#usageShop.paying): Promise<void> {
    const date = this.#dates.shift()
    if (date === undefined) throw new Error('no date is left for another bill')
    await this.#usageShop.bill(`2026-${date}T13:00:00Z`, charge)
  }

  decide(invoiceRef: string, change: InvoiceChange): Promise<DecisionOutcome> {
    return this.#usageShop.runner.within(this.#usageShop.shop, (work) =>
      decideOnInvoice(work, { invoiceRef, reason: 'decided', change }),
    )
  }

  /** Reports a refund of the payment that `payByCard` made. */
  async refundByWebhook(invoiceRef: string, amountMinor: bigint): Promise<Refund> {
    const refund = refundAtProcessor(amountMinor)
    await this.reportRefund(invoiceRef, refund)
    return refund
  }

  async reportRefund(invoiceRef: string, refund: Refund): Promise<void> {
    await this.#usageShop.runner.within(this.#usageShop.shop, (work) =>
      applyRefund(work, `txn_${invoiceRef}`, refund),
    )
  }

  /** Reports a dispute of the whole payment whose money the bank has withdrawn and returned in turn. */
  async dispute(
    invoiceRef: string,
    amountMinor: bigint,
    status: Dispute['status'],
    movements: number,
  ): Promise<void> {
    const id = this.#disputes.get(invoiceRef) ?? `dp_returned_${(disputes += 1)}`
    this.#disputes.set(invoiceRef, id)
    await this.#usageShop.runner.within(this.#usageShop.shop, (work) =>
      applyDispute(work, `txn_${invoiceRef}`, {
        ...{ kind: 'dispute', id, status, amountMinor },
        ...{ currency: 'USD', reason: 'fraudulent', chargeId: 'ch_1', paymentIntentId: undefined },
        createdAt: new Date('2026-03-01T00:00:00Z'),
        movements: Array.from({ length: movements }, (_, at) => {
          const movedMinor = at % 2 === 0 ? -amountMinor : amountMinor
          return {
            ...{ id: `txn_${id}_${at}`, amountMinor: movedMinor, netMinor: movedMinor },
            ...{ feeMinor: 0n, currency: 'USD', restUnits: 0n },
          }
        }),
      }),
    )
  }

  /** Returns the customer's balance. Minor units, and a credit is positive. */
  async balance(): Promise<number> {
    const { customerRef } = this.purchase
    const carried = await this.#usageShop.runner.within(this.#usageShop.shop, (work) =>
      readCarried(work.sql, work.providerId, { customerRef, currency: 'USD' }),
    )
    return -Number(carried) + 0
  }

  /** Checks that every invoice can be computed again from its inputs, and that the ledger agrees with the invoices. */
  async expectBalanced(): Promise<void> {
    for (const invoice of await this.#usageShop.invoicesOf(this.purchase)) {
      expect(recomputeInvoice(invoice)).toEqual([])
    }
    const sql = this.#usageShop.runner.database.in('sandbox')
    expect(await listUnbalancedInvoices(sql, 10)).toEqual([])
  }
}
