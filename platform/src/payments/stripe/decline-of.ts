import type { Decline } from '../payment-objects.ts'

/** Details of a failed attempt, from a Stripe error or an intent. */
export type DeclineDetails = {
  readonly code?: string | null | undefined
  readonly decline_code?: string | null | undefined
  readonly advice_code?: string | null | undefined
  readonly message?: string | null | undefined
}

/**
 * Codes after which no bank will accept the same card. Card networks count further attempts against the merchant. Problems that the
 * customer can solve with the same card, such as insufficient funds, are not included.
 */
const hardCodes: ReadonlySet<string> = new Set([
  'do_not_try_again',
  'expired_card',
  'fraudulent',
  'highest_risk_level',
  'incorrect_number',
  'invalid_account',
  'invalid_number',
  'lost_card',
  'merchant_blacklist',
  'no_account',
  'pickup_card',
  'restricted_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'security_violation',
  'stolen_card',
  'stop_payment_order',
  'transaction_not_allowed',
])

const customerCodes: ReadonlySet<string> = new Set([
  'authentication_required',
  'authentication_not_handled',
  'payment_intent_authentication_failure',
  'setup_intent_authentication_failure',
])

export function declineOf(details: DeclineDetails): Decline {
  const code = details.code ?? 'card_declined'
  const declineCode = details.decline_code ?? undefined
  const codes = [code, ...(declineCode === undefined ? [] : [declineCode])]
  return {
    code,
    declineCode,
    isHard: details.advice_code === 'do_not_try_again' || codes.some((each) => hardCodes.has(each)),
    needsCustomer: codes.some((each) => customerCodes.has(each)),
    message: details.message ?? 'The payment was declined.',
  }
}
