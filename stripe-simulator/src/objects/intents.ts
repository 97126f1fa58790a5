import type { StripeApiError } from '../errors.ts'
import { invalid } from '../errors.ts'
import { present } from './present.ts'
import type { Answer } from '../answer.ts'
import { presentIntent } from './present.ts'
import type { LastError, PaymentIntent, PaymentMethod, SetupIntent } from '../store/records.ts'
import { testCard, type CardError } from './test-cards.ts'

/* Common parts of payment intents and setup intents. */

export type Confirmation = {
  readonly payment_method?: string | undefined
  readonly off_session?: boolean | undefined
  readonly return_url?: string | undefined
}

export const authenticationRequired: CardError = {
  code: 'authentication_required',
  decline_code: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
}

/** Returns whether the bank requires authentication of the cardholder for this card now. */
export function requiresAuthentication(method: PaymentMethod, isOffSession: boolean): boolean {
  const { authentication } = testCard(method.simulator.number)
  if (authentication === undefined) return false
  switch (authentication) {
    case 'always':
      return true
    case 'unless_set_up':
      return !(isOffSession && method.simulator.isSetUp)
    case 'on_session':
      return !isOffSession
  }
}

export function lastError(
  error: CardError,
  method: PaymentMethod,
  charge: string | undefined,
  type: LastError['type'] = 'card_error',
): LastError {
  return {
    ...(charge !== undefined && { charge }),
    ...error,
    payment_method: present(method),
    type,
  }
}

/** Returns the answer to a failed attempt: an error that contains the current state of the intent. The failed attempt is stored. */
export function failed(intent: PaymentIntent | SetupIntent, error: LastError): Answer {
  const presented = presentIntent(intent)
  const shownIntent =
    intent.object === 'payment_intent' ? { payment_intent: presented } : { setup_intent: presented }
  return { status: 402, body: { error: { ...error, ...shownIntent } } }
}

export function unexpectedState(intent: PaymentIntent | SetupIntent, verb: string): StripeApiError {
  const name = intent.object === 'payment_intent' ? 'PaymentIntent' : 'SetupIntent'
  const presented = presentIntent(intent)
  return invalid(
    `You cannot ${verb} this ${name} because it has a status of ${intent.status}.`,
    intent.object === 'payment_intent'
      ? { code: 'payment_intent_unexpected_state', payment_intent: presented }
      : { code: 'setup_intent_unexpected_state', setup_intent: presented },
  )
}
