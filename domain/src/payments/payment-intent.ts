import type { SeenCard } from '../cards/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { TaxBreakdown } from '../invoices/tax-breakdown.ts'
import type { IntentState } from './transitions.ts'

export type IntentPurpose = 'product' | 'credit_topup' | 'usage_billing'

/** One amount that a customer is asked to pay, however often it is tried. */
export type PaymentIntent = {
  /** Clients know it as the transaction. */
  readonly reference: string
  readonly purpose: IntentPurpose
  readonly customerRef: string
  readonly productRef: string | null
  readonly planRef: string | null
  readonly planSnapshot: PlanSnapshot | null
  readonly cycleMode: CycleMode
  /** The hosted page that it was made on. */
  readonly checkoutSessionId: string | null
  /** The saved card that is charged without asking anybody; null: the customer's browser confirms the payment. */
  readonly paymentMethodId: string | null
  /** Whether the card is kept for later charges. */
  readonly keepsCard: boolean
  readonly status: IntentState
  /** USD cents. */
  readonly amountMinor: bigint
  /** What is charged, in minor units of `currency`. */
  readonly originalAmountMinor: bigint
  /** Upper case. */
  readonly currency: string
  /** US dollars of one unit of `currency`, written out. */
  readonly exchangeRate: string
  /** Of `originalAmountMinor`; null while nobody has asked for it. */
  readonly tax: TaxBreakdown | null
  /** What it pays of is a change of plan; null: no change, or one that begins a period of its own. */
  readonly planSwitch: IntentSwitch | null
  /** Whole credits that it buys. */
  readonly credits: bigint | null
  readonly description: string | null
  readonly processorCustomerId: string
  /** Null until the processor has told. */
  readonly processorPaymentId: string | null
  readonly purchaseRef: string | null
  /** The invoice that it pays; of what is bought it is made when the money is there. */
  readonly invoiceRef: string | null
  readonly failureReason: string | null
  /** Charges that were turned down, or causes where there was no charge: each of them was told of once. */
  readonly declinedCharges: readonly string[]
  /** Paid, but for nothing that could be given. */
  readonly refundWanted: boolean
  readonly cancelWanted: boolean
  /** Paid, and the processor has not told yet what of it reached its balance. */
  readonly settlementWanted: boolean
  /** The provider's, for the invoice of what is bought; null: it pays an invoice that there is. */
  readonly sellerName: string | null
  /** The card that paid; null: not paid, or not by card. */
  readonly paidWith: PaidWith | null
  /** The means of payment that paid, by the processor's id; null: not paid, or not known. */
  readonly paidMethodId: string | null
  readonly idempotencyKey: string
  readonly inputSha256: string
  readonly expiresAt: Date
  /** When the processor is asked again what became of it; null once nothing more can. */
  readonly nextLookAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly succeededAt: Date | null
}

/** The change of plan that a payment was priced for. */
export type IntentSwitch = {
  readonly fromPurchaseRef: string
  /** ISO 8601: the days that were left were counted from here. */
  readonly changedAt: string
  /** Whether the set-up fee is part of it. */
  readonly isFirst: boolean
}

/** As receipts name it. Payments before its expiry was stored have none. */
export type PaidWith = Pick<SeenCard, 'brand' | 'last4'> &
  Partial<Pick<SeenCard, 'expMonth' | 'expYear'>>

/** How long a customer may take to pay. */
export const payableMs = 24 * 3_600_000

/** What the processor is told to find it again by. */
export const intentMetadataKey = 'tollgate_payment'
export const providerMetadataKey = 'tollgate_provider'
