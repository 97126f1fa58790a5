import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { CardWithMethod } from '../cards/repository.ts'
import type { Invoice } from '../invoices/invoice.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Sale } from './invoice-sale.ts'

/**
 * Effects for one purpose of payment, in the transaction that records the processor's answer. The caller has locked the payment,
 * and records its events and postings. After a crash the caller calls again, and nothing of the first call was committed.
 */
export type PaymentHandler = {
  /** Delivers what was paid for. */
  onSucceeded(work: UnitOfWork, payment: Payment): Promise<Booking>
  onFailed(work: UnitOfWork, failure: Failure): Promise<void>
  onRefunded(work: UnitOfWork, intent: PaymentIntent, refund: FinalRefund): Promise<void>
  onDisputed(work: UnitOfWork, intent: PaymentIntent, dispute: ReportedDispute): Promise<void>
}

/** A payment and the invoice that it pays, both locked. */
export type Payment = {
  readonly intent: PaymentIntent
  /** The invoice to pay; undefined for a sale, whose invoice is issued when the payment succeeds. */
  readonly debt: Debt | undefined
}

/** An invoice that was issued before its payment. */
export type Debt = {
  readonly invoice: Invoice
  /** The purchase of the invoice; undefined if the customer bought only credits. */
  readonly purchase: Purchase | undefined
  /** The period that the invoice charges; undefined if it charges none. */
  readonly period: ChargedPeriod | undefined
}

export type Booking =
  | {
      readonly kind: 'booked'
      readonly purchaseRef: string | null
      /** Content of the invoice to issue; absent if the payment has paid an existing invoice. */
      readonly sale?: Sale
    }
  | Undeliverable

/** What was paid for cannot be delivered, so the payment is refunded. */
export type Undeliverable = { readonly kind: 'undeliverable'; readonly reason: string }

export function undeliverable(reason: string): Undeliverable {
  return { kind: 'undeliverable', reason }
}

export type Failure =
  /** A charge of the saved card failed. The invoice has counted it and stores when the next charge is, if there is one. */
  | { readonly kind: 'charge-failed'; readonly debt: Debt }
  /** The payment has ended without money. */
  | (Payment & {
      readonly kind: 'payment-ended'
      /** The invoice's amount is below the processor's minimum. */
      readonly isTooSmall: boolean
    })

export type FinalRefund = {
  /** The processor's id of the refund. */
  readonly id: string
  /** Amount in minor units of the payment's currency. */
  readonly amountMinor: bigint
  /** The refund failed after it had succeeded, so the money was returned to the provider. */
  readonly isReturned: boolean
}

export type ReportedDispute = Pick<Dispute, 'id' | 'amountMinor' | 'movements'> & {
  /** Whether the dispute now takes away or gives back the access that was paid for. */
  readonly access: 'taken' | 'given-back' | 'unchanged'
}

/** A card check moves no money, so there is nothing to refund or dispute. */
export type CardCheckHandler = {
  onSucceeded(work: UnitOfWork, customerRef: string, card: CardWithMethod): Promise<void>
  onFailed(work: UnitOfWork, customerRef: string): Promise<void>
}
