import type { Decline, NextAction, PaymentIntent, SetupIntent } from './payment-objects.ts'

/** The processor refused the request and will refuse it again with the same parameters. Nothing was changed. */
export type Refused = {
  readonly outcome: 'refused'
  readonly reason:
    | 'amount_too_small'
    | 'amount_too_large'
    /** The charge is already refunded in full. */
    | 'already_refunded'
    /** The object does not exist, or no longer exists. */
    | 'not_found'
    /** The state of the object does not allow this. */
    | 'unexpected_state'
    /** The idempotency key was used with other parameters before. The outcome of that request is not known. */
    | 'key_reused'
    | 'invalid'
  /** The processor's own code, if it returned one. */
  readonly code: string | undefined
  readonly message: string
}

/**
 * The outcome is unknown: the request may have been executed, or may still be. Never treat it as a decline. Send the same
 * parameters with the same key again within 23 hours. After that, or if `server_error` repeats with that key, look the object up.
 * Use a new key only with proof that nothing happened.
 */
export type Unknown = {
  readonly outcome: 'unknown'
  readonly reason:
    | 'timeout'
    | 'connection'
    | 'server_error'
    | 'rate_limited'
    /** A request with the same key is still in progress. */
    | 'in_progress'
    /** The processor does not accept our API key. An operator must act. */
    | 'not_permitted'
    /** The response has a value that this release does not know. */
    | 'unreadable'
  readonly message: string
}

/** The outcome of a write other than a payment. */
export type Written<Value> = { readonly outcome: 'done'; readonly value: Value } | Refused | Unknown

/** The outcome of a write to an intent. A decline has no intent if none was created. */
export type IntentOutcome<Intent extends PaymentIntent | SetupIntent> =
  | StandingOutcome<Intent>
  | { readonly outcome: 'declined'; readonly intent: undefined; readonly decline: Decline }
  | Refused
  | Unknown

/** The state of an existing intent as an outcome. */
export type StandingOutcome<Intent extends PaymentIntent | SetupIntent> =
  /** The intent waits for confirmation, usually by the customer's browser. No attempt was made yet. */
  | { readonly outcome: 'open'; readonly intent: Intent }
  | { readonly outcome: 'succeeded'; readonly intent: Intent }
  | { readonly outcome: 'processing'; readonly intent: Intent }
  | {
      readonly outcome: 'requires_action'
      readonly intent: Intent
      readonly clientSecret: string
      readonly nextAction: NextAction
    }
  | { readonly outcome: 'declined'; readonly intent: Intent; readonly decline: Decline }
  | { readonly outcome: 'canceled'; readonly intent: Intent }

export type PaymentOutcome = IntentOutcome<PaymentIntent>
export type SetupOutcome = IntentOutcome<SetupIntent>

/** Returns the outcome that corresponds to the state of a retrieved intent. */
export function outcomeOf<Intent extends PaymentIntent | SetupIntent>(
  intent: Intent,
): StandingOutcome<Intent> {
  switch (intent.status) {
    case 'requires_action':
      return {
        outcome: 'requires_action',
        intent,
        clientSecret: intent.clientSecret ?? '',
        nextAction: intent.nextAction ?? { kind: 'browser' },
      }
    case 'open':
      if (intent.lastDecline === undefined) return { outcome: 'open', intent }
      return { outcome: 'declined', intent, decline: intent.lastDecline }
    case 'processing':
    case 'succeeded':
    case 'canceled':
      return { outcome: intent.status, intent }
  }
}
