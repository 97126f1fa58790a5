import type { CardWithMethod } from '../cards/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { TaxBreakdown } from '../invoices/tax-breakdown.ts'
import type { IntentState } from './transitions.ts'

export type IntentPurpose = 'product' | 'credit_topup' | 'usage_billing'

/** A payment of one amount by a customer, with any number of attempts. */
export type PaymentIntent = {
  /** The transaction reference in the API. */
  readonly reference: string
  readonly purpose: IntentPurpose
  readonly customerRef: string
  readonly productRef: string | null
  readonly planRef: string | null
  readonly planSnapshot: PlanSnapshot | null
  readonly cycleMode: CycleMode
  /** The hosted checkout on which the payment was created. */
  readonly checkoutSessionId: string | null
  /** The saved card that is charged without the customer; null if the customer's browser confirms the payment. */
  readonly paymentMethodId: string | null
  /** Whether the card is saved for later charges. */
  readonly keepsCard: boolean
  readonly status: IntentState
  /** Amount in USD cents. */
  readonly amountMinor: bigint
  /** Amount that the processor charges, in minor units of `currency`. 0 if the balance pays everything. */
  readonly originalAmountMinor: bigint
  /**
   * The part of the price that the customer's balance pays, in minor units of `currency`. It is held until the payment has ended. Only
   * sales of plans use it.
   */
  readonly fromBalanceMinor: bigint
  /** ISO 4217 code in upper case. */
  readonly currency: string
  /** Price of one unit of `currency` in US dollars, as a decimal string. */
  readonly exchangeRate: string
  /** Tax included in the price; null if no tax was calculated. */
  readonly tax: TaxBreakdown | null
  /** The change of plan that the payment pays for; null if it pays for none, or for a change that begins a new period. */
  readonly planSwitch: IntentSwitch | null
  /** Whole credits that the payment buys. */
  readonly credits: bigint | null
  readonly description: string | null
  /** Null if the processor has no such payment, because the balance pays everything. */
  readonly processorCustomerId: string | null
  /** The processor's id, null until the processor has confirmed the payment. */
  readonly processorPaymentId: string | null
  readonly purchaseRef: string | null
  /** Invoice that the payment pays. For a sale, the invoice is issued when the payment succeeds. */
  readonly invoiceRef: string | null
  readonly failureReason: string | null
  /** Ids of declined charges, or decline codes if there was no charge. A failure event is emitted once for each. */
  readonly declinedCharges: readonly string[]
  /** The payment succeeded, but what it paid for could not be delivered, so it must be refunded. */
  readonly refundWanted: boolean
  readonly cancelWanted: boolean
  /** The payment succeeded, and the processor has not reported yet which amount reached its balance. */
  readonly settlementWanted: boolean
  /** Name of the provider for the invoice of a sale; null if the payment pays an existing invoice. */
  readonly sellerName: string | null
  /** The card that paid; null if the payment is not paid, or was not paid by card. */
  readonly paidWith: PaidWith | null
  /** The processor's id of the payment method that paid; null if the payment is not paid or the method is unknown. */
  readonly paidMethodId: string | null
  readonly idempotencyKey: string
  readonly inputSha256: string
  readonly expiresAt: Date
  /** When the payment is checked at the processor again; null if nothing can change any more. */
  readonly nextLookAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly succeededAt: Date | null
}

/** The change of plan that a payment was priced for. */
export type IntentSwitch = {
  readonly fromPurchaseRef: string
  /** ISO 8601. The remaining days of the period were counted from this time. */
  readonly changedAt: string
  /** Whether the payment includes the set-up fee. */
  readonly isFirst: boolean
}

/** Card details for receipts. Payments from before the expiry was stored have no `expMonth` and `expYear`. */
export type PaidWith = Pick<CardWithMethod, 'brand' | 'last4'> &
  Partial<Pick<CardWithMethod, 'expMonth' | 'expYear'>>

/** How long a customer can take to pay. */
export const payableMs = 24 * 3_600_000

/** Metadata keys that identify our payments at the processor. */
export const intentMetadataKey = 'tollgate_payment'
export const providerMetadataKey = 'tollgate_provider'
/** The request that a refund answers. */
export const refundMetadataKey = 'tollgate_refund'
