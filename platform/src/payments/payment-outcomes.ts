import type { Decline, NextAction, PaymentIntent, SetupIntent } from './payment-objects.ts'

/** The processor understood and will not do it, now or when asked again with the same words. Nothing was changed. */
export type Refused = {
  readonly outcome: 'refused'
  readonly reason:
    | 'amount_too_small'
    | 'amount_too_large'
    /** The charge has been given back in full. */
    | 'already_refunded'
    /** What it is about is not there (any more). */
    | 'not_found'
    /** The object is in a state in which this cannot be done to it. */
    | 'unexpected_state'
    /** This idempotency key was used with other words before. What those did is not told. */
    | 'key_reused'
    | 'invalid'
  /** The processor's own code, where it gave one. */
  readonly code: string | undefined
  readonly message: string
}

/**
 * Whether it was done is not known: it may have happened, or happen yet. Never a decline. Send the same words under the
 * same key again within 23 hours; later, or when `server_error` comes again under that key, look it up. A new key needs
 * proof that nothing happened.
 */
export type Unknown = {
  readonly outcome: 'unknown'
  readonly reason:
    | 'timeout'
    | 'connection'
    | 'server_error'
    | 'rate_limited'
    /** A request under the same key is still being worked on. */
    | 'in_progress'
    /** Our key for the processor is not accepted: an operator has to act. */
    | 'not_permitted'
    /** It answered with what this release does not know. */
    | 'unreadable'
  readonly message: string
}

/** Of a write that is done or is not. */
export type Written<Value> = { readonly outcome: 'done'; readonly value: Value } | Refused | Unknown

/** Where an intent stands after it was written to. A decline has no intent when none came to be. */
export type IntentOutcome<Intent extends PaymentIntent | SetupIntent> =
  | StandingOutcome<Intent>
  | { readonly outcome: 'declined'; readonly intent: undefined; readonly decline: Decline }
  | Refused
  | Unknown

/** Where an intent stands, told by itself. */
export type StandingOutcome<Intent extends PaymentIntent | SetupIntent> =
  /** It waits to be confirmed, mostly by the customer's browser. Nothing was tried yet. */
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

/** The outcome that an intent, as it was retrieved, tells of. */
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
