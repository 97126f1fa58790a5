import type { AutoRechargeTerms } from '../auto-recharge/repository.ts'
import type { Customer } from '../customers/repository.ts'

/** What a customer wants to pay. */
export type PaymentRequest = {
  readonly customer: Customer
  readonly purpose: 'product' | 'credit_topup'
  readonly productRef: string | undefined
  readonly planRef: string | undefined
  /** Minor units of the currency: of a top-up. */
  readonly amountMinor: bigint | undefined
  /** Upper case; undefined: the plan's own, or the provider's. */
  readonly currency: string | undefined
  readonly description: string | undefined
  /** The hosted page that it is made on: used up by the payment. */
  readonly checkoutSessionId: string | undefined
  /** Keeps the card for later charges. */
  readonly keepsCard: boolean
  /** What is to be bought on the card from then on. */
  readonly recharge: AutoRechargeTerms | undefined
  /** Once for each provider. */
  readonly idempotencyKey: string
}
