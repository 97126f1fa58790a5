import type { Environment } from '@tollgate/schemas/environment'
import type { Invoice } from '../invoices/invoice.ts'
import type { OpenedIntent } from '../settlement/open-intent.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** What is to be collected from a customer: what is due of an invoice that is open. */
export type InvoiceCharge = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  /** Null where nothing was bought but credits. */
  readonly purchaseRef: string | null
  readonly invoiceRef: string
  /** Minor units of the currency, more than none. */
  readonly amountMinor: bigint
  readonly currency: string
  readonly now: Date
  /** The provider asks for it. A failure does not count toward suspension. */
  readonly isOutOfTurn?: true
}

export type ChargeOutcome =
  /** The money is there, and what it pays for began in the transaction that says so: nothing is left to be settled. */
  | { readonly kind: 'booked' }
  /** The money is there, and the invoice says so itself. */
  | { readonly kind: 'paid' }
  | FailedCharge
  /** On its way, not known yet, or failed when it was not this caller's turn. Whoever learns that it was paid settles it; the next try learns that it was not. */
  | { readonly kind: 'pending' }

export type FailedCharge = {
  readonly kind: 'declined'
  /** Trying it again would come to the same. */
  readonly isFinal: boolean
  /** Names the failure: told again, it is counted once. */
  readonly failure: string
}

export type BegunCharge =
  | { readonly kind: 'known'; readonly outcome: ChargeOutcome }
  /** What came of an earlier call is not known yet. */
  | { readonly kind: 'look'; readonly intentRef: string }
  /** A call is written down, to be made now. */
  | ({ readonly kind: 'send' } & OpenedIntent)

export type ChargeInvoice = {
  /**
   * Charges the customer's card, with nobody there. However often it is asked for one invoice, that is charged once at
   * most. It calls the payment processor, so no transaction may be open around it. `begun` is what `begin` returned,
   * committed.
   */
  (charge: InvoiceCharge, commit: Commit, begun?: BegunCharge): Promise<ChargeOutcome>
  /**
   * Writes down the first call that charges for an invoice, in the transaction that issues it: that saves one of its own.
   * Absent: the charge begins with it.
   */
  readonly begin?: (
    work: UnitOfWork,
    invoice: Invoice,
    purchase: Purchase,
  ) => Promise<BegunCharge | undefined>
}

/** One transaction in the name of whoever charges. */
export type Commit = <Result>(body: (work: UnitOfWork) => Promise<Result>) => Promise<Result>
