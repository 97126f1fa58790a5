import type { PaymentIntent } from './payment-intent.ts'

/** What a payment is for. The API distinguishes only the three values of `IntentPurpose`. */
export type PaymentPurpose =
  /** A plan that begins a new period or is bought once for all time, or the first credits of a credit plan. */
  | 'first-sale'
  /** The price difference of another plan within a paid period. */
  | 'plan-change'
  /** Credits that the customer buys. */
  | 'top-up'
  /** Credits that are bought on a saved card because the balance is low. */
  | 'auto-recharge'
  /** An invoice that charges a period of a purchase, including the first period after a trial. It may charge usage as well. */
  | 'renewal'
  /** An invoice that charges no period. */
  | 'usage'

/** Returns the purpose of a payment. `chargesPeriod`: whether the payment pays an invoice that charges a period. */
export function purposeOf(
  { purpose, planSwitch, paymentMethodId }: PurposeFields & Pick<PaymentIntent, 'planSwitch'>,
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
 * Returns whether the payment pays an invoice. An invoice stays owed until it is paid or written off, so such a payment does not
 * expire. Other payments wait for a customer to confirm them.
 */
export function paysInvoice({ purpose }: Pick<PaymentIntent, 'purpose'>): boolean {
  return purpose === 'usage_billing'
}

/**
 * Returns whether a decline ends the payment. An automatic recharge ends, because the customer is not present to try another card
 * and owes nothing.
 */
export function endsWhenDeclined({ purpose, paymentMethodId }: PurposeFields): boolean {
  return purpose === 'credit_topup' && paymentMethodId !== null
}

type PurposeFields = Pick<PaymentIntent, 'purpose' | 'paymentMethodId'>
