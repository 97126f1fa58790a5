/**
 * `creating`: the processor may not know the payment yet. `failed`: the processor refused the payment, or a saved card was
 * declined.
 */
export type IntentState =
  | 'creating'
  | 'requires_payment_method'
  | 'requires_action'
  | 'processing'
  | 'succeeded'
  | 'canceled'
  | 'failed'

/** What the processor reports about a payment intent. Reports arrive in any order and more than once. */
export type IntentTrigger =
  | 'opened'
  | 'action-required'
  | 'processing'
  | 'succeeded'
  | 'canceled'
  /** The processor refused to create the payment, so it can never be paid. */
  | 'refused'
  /** Canceled after the saved card was declined. */
  | 'given-up'

type Transition = {
  readonly from: readonly IntentState[]
  readonly to: IntentState
  /** The event that the transition emits. A failure event also has a reason, and is emitted where the reason is known. */
  readonly event?: 'payment.succeeded' | 'payment.canceled'
}

const unended = ['creating', 'requires_payment_method', 'requires_action', 'processing'] as const

/**
 * All transitions of a payment intent. Between states that are not final it follows the processor's reports in any order. A final
 * state is never left, so late or repeated reports change nothing.
 */
export const intentTransitions: Readonly<Record<IntentTrigger, Transition>> = {
  opened: { from: unended, to: 'requires_payment_method' },
  'action-required': { from: unended, to: 'requires_action' },
  processing: { from: unended, to: 'processing' },
  succeeded: { from: unended, to: 'succeeded', event: 'payment.succeeded' },
  canceled: { from: unended, to: 'canceled', event: 'payment.canceled' },
  refused: { from: ['creating'], to: 'failed' },
  'given-up': { from: unended, to: 'failed' },
}

export function canIntentMove(state: IntentState, trigger: IntentTrigger): boolean {
  return intentTransitions[trigger].from.includes(state)
}

/** Returns whether the state is final: succeeded, canceled or failed. */
export function isFinal(state: IntentState): boolean {
  return !unended.some((each) => each === state)
}
