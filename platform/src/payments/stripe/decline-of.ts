import type { Decline } from '../payment-objects.ts'

/** What Stripe tells of a failed try, in an error or on the intent. */
export type DeclineDetails = {
  readonly code?: string | null | undefined
  readonly decline_code?: string | null | undefined
  readonly advice_code?: string | null | undefined
  readonly message?: string | null | undefined
}

/**
 * No bank will ever say yes to the same card after these. Card schemes count further tries against the merchant. What the
 * customer can set right without another card, such as too little money, is not among them.
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
