import type { Environment } from '@tollgate/schemas/environment'
import type { Invoice } from '../invoices/invoice.ts'
import type { OpenedIntent } from '../settlement/open-intent.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** The amount to collect from a customer: the amount due of an open invoice. */
export type InvoiceCharge = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  /** Null if only credits were bought. */
  readonly purchaseRef: string | null
  readonly invoiceRef: string
  /** Minor units of the currency, greater than 0. */
  readonly amountMinor: bigint
  readonly currency: string
  readonly now: Date
  /**
   * Set if the provider requested the charge outside the retry schedule. A failure then does not count toward
   * suspension.
   */
  readonly isOffSchedule?: true
}

export type ChargeOutcome =
  /**
   * The payment succeeded. The transaction that recorded it also started what it pays for, so nothing is left to
   * settle.
   */
  | { readonly kind: 'booked' }
  /** The payment succeeded, and the invoice is paid. */
  | { readonly kind: 'paid' }
  | FailedCharge
  /**
   * The payment is in progress, its outcome is unknown, or the last attempt failed outside the retry schedule. The
   * process that learns of a success settles it. A failure is found by the next attempt.
   */
  | { readonly kind: 'pending' }

export type FailedCharge = {
  readonly kind: 'declined'
  /** Whether another attempt would fail in the same way. */
  readonly isFinal: boolean
  /** Identifies the failure, so that it is counted once even if it is reported again. */
  readonly failure: string
}

export type BegunCharge =
  | { readonly kind: 'known'; readonly outcome: ChargeOutcome }
  /** The outcome of an earlier call is not known yet. */
  | { readonly kind: 'reconcile'; readonly intentRef: string }
  /** A call is stored and must be made now. */
  | ({ readonly kind: 'send' } & OpenedIntent)

export type ChargeInvoice = {
  /**
   * Charges the customer's saved card without the customer being present. An invoice is charged at most once, however
   * often this is called for it. This calls the payment processor, so the caller must not hold a transaction open.
   * `begun` is the committed result of `begin`.
   */
  (charge: InvoiceCharge, commit: Commit, begun?: BegunCharge): Promise<ChargeOutcome>
  /**
   * Stores the first charging call of an invoice in the transaction that issues it, which saves a separate transaction.
   * If absent, the charge itself stores the call.
   */
  readonly begin?: (
    work: UnitOfWork,
    invoice: Invoice,
    purchase: Purchase,
  ) => Promise<BegunCharge | undefined>
}

/** Runs `body` in one transaction of the caller. */
export type Commit = <Result>(body: (work: UnitOfWork) => Promise<Result>) => Promise<Result>
