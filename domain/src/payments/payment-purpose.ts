import type { PaymentIntent } from './payment-intent.ts'

/** What a payment is for. Clients see three of these apart, as `IntentPurpose`. */
export type PaymentPurpose =
  /** A plan that begins a period of its own, or is bought for good, or the credits that a plan asks for. */
  | 'first-sale'
  /** The difference that another plan costs within a period that is paid. */
  | 'plan-change'
  /** Credits that the customer buys. */
  | 'top-up'
  /** Credits that are bought on a saved card because the balance is low. */
  | 'auto-recharge'
  /** An invoice that charges a period of a purchase, also the first one after a trial, and possibly usage besides. */
  | 'renewal'
  /** An invoice that charges no period. */
  | 'usage'

/** `chargesPeriod`: whether the payment pays an invoice that charges a period. */
export function purposeOf(
  { purpose, planSwitch, paymentMethodId }: Named & Pick<PaymentIntent, 'planSwitch'>,
  chargesPeriod: boolean,
): PaymentPurpose {
  switch (purpose) {
    case 'product':
      return planSwitch === null ? 'first-sale' : 'plan-change'
    case 'credit_topup':
      return paymentMethodId === null ? 'top-up' : 'auto-recharge'
    case 'usage_billing':
      return debtPurposeOf(chargesPeriod)
  }
}

/** Returns the purpose of paying an invoice. */
export function debtPurposeOf(chargesPeriod: boolean): 'renewal' | 'usage' {
  return chargesPeriod ? 'renewal' : 'usage'
}

/**
 * Whether an invoice asks for the money. It stays owed until it is paid or written off, so the payment does not expire.
 * Other payments wait for a customer to confirm them.
 */
export function paysInvoice({ purpose }: Pick<PaymentIntent, 'purpose'>): boolean {
  return purpose === 'usage_billing'
}

/** Whether a decline ends the payment: the customer is not there to try another card, and nothing is owed. */
export function endsWhenDeclined({ purpose, paymentMethodId }: Named): boolean {
  return purpose === 'credit_topup' && paymentMethodId !== null
}

type Named = Pick<PaymentIntent, 'purpose' | 'paymentMethodId'>
