import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { SeenCard } from '../cards/repository.ts'
import type { Invoice } from '../invoices/invoice.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Sale } from './invoice-sale.ts'

/**
 * What follows for one purpose of payment, in the transaction that records what the processor answered. The caller has
 * locked the payment, records its events and postings, and may call again after a crash: nothing of it was committed then.
 */
export type PaymentHandler = {
  /** Gives the customer what was paid for. */
  onSucceeded(work: UnitOfWork, payment: Payment): Promise<Booking>
  onFailed(work: UnitOfWork, failure: Failure): Promise<void>
  onRefunded(work: UnitOfWork, intent: PaymentIntent, refund: SettledRefund): Promise<void>
  onDisputed(work: UnitOfWork, intent: PaymentIntent, dispute: SeenDispute): Promise<void>
}

/** A payment with what it pays, both locked. */
export type Payment = {
  readonly intent: PaymentIntent
  /** Undefined: it buys something, and its invoice is issued when the money is there. */
  readonly debt: Debt | undefined
}

/** An invoice that was issued before its payment. */
export type Debt = {
  readonly invoice: Invoice
  /** Undefined: nothing was bought but credits. */
  readonly purchase: Purchase | undefined
  /** The period that the invoice charges; undefined: none. */
  readonly period: ChargedPeriod | undefined
}

export type Booking =
  | {
      readonly kind: 'booked'
      readonly purchaseRef: string | null
      /** What its invoice has to say; absent: the payment has paid an invoice that exists. */
      readonly sale?: Sale
    }
  | Undeliverable

/** Nothing can be given for the money: it is paid back. */
export type Undeliverable = { readonly kind: 'undeliverable'; readonly reason: string }

export function undeliverable(reason: string): Undeliverable {
  return { kind: 'undeliverable', reason }
}

export type Failure =
  /** A charge of the saved card failed. The invoice has counted it and says when the next charge is, if there is one. */
  | { readonly kind: 'charge-failed'; readonly debt: Debt }
  /** The payment has ended without money. */
  | (Payment & {
      readonly kind: 'payment-ended'
      /** The processor takes no amount as small as that of the invoice. */
      readonly isTooSmall: boolean
    })

export type SettledRefund = {
  /** The processor's id. */
  readonly id: string
  /** Minor units of the payment's currency. */
  readonly amountMinor: bigint
  /** True: the refund failed after it had succeeded, so the money is here again. */
  readonly isReturned: boolean
}

export type SeenDispute = Pick<Dispute, 'id' | 'amountMinor' | 'movements'> & {
  /** Whether the dispute now takes away, or gives back, the access that the payment paid for. */
  readonly access: 'taken' | 'given-back' | 'unchanged'
}

/** A check moves no money, so there is nothing to refund or dispute. */
export type CardCheckHandler = {
  onSucceeded(work: UnitOfWork, customerRef: string, card: SeenCard): Promise<void>
  onFailed(work: UnitOfWork, customerRef: string): Promise<void>
}
