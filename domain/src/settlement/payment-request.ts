import type { AutoRechargeTerms } from '../auto-recharge/repository.ts'
import type { Customer } from '../customers/repository.ts'

/** A customer's request to pay. */
export type PaymentRequest = {
  readonly customer: Customer
  readonly purpose: 'product' | 'credit_topup'
  readonly productRef: string | undefined
  readonly planRef: string | undefined
  /** Amount of a top-up in minor units of the currency. */
  readonly amountMinor: bigint | undefined
  /** Currency in upper case; undefined for the plan's or the provider's own currency. */
  readonly currency: string | undefined
  readonly description: string | undefined
  /** The coupon that the payment redeems. */
  readonly couponRef?: string | undefined
  /** The hosted checkout on which the payment is made. The payment completes it. */
  readonly checkoutSessionId: string | undefined
  /** Whether the card is saved for later charges. */
  readonly keepsCard: boolean
  /** Terms of the automatic recharges that the card pays from then on. */
  readonly recharge: AutoRechargeTerms | undefined
  /** Unique for each provider. */
  readonly idempotencyKey: string
}
