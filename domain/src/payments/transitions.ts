/** `creating`: the processor may not know of it yet. `failed`: it will not take it, or a saved card was turned down. */
export type IntentState =
  | 'creating'
  | 'requires_payment_method'
  | 'requires_action'
  | 'processing'
  | 'succeeded'
  | 'canceled'
  | 'failed'

/** What we learn of a payment intent, from the processor in whatever order and however often. */
export type IntentTrigger =
  | 'opened'
  | 'action-required'
  | 'processing'
  | 'succeeded'
  | 'canceled'
  /** The processor refused to make it: there is nothing that could ever be paid. */
  | 'refused'
  /** Withdrawn after the saved card was turned down. */
  | 'given-up'

type Transition = {
  readonly from: readonly IntentState[]
  readonly to: IntentState
  /** The event that tells of it. A failure has its reason beside it and is told of where that is known. */
  readonly event?: 'payment.succeeded' | 'payment.canceled'
}

const unended = ['creating', 'requires_payment_method', 'requires_action', 'processing'] as const

/**
 * Every move of a payment intent. Among the states that are not final it moves as the processor tells, in any order; a
 * final state is never left, so whatever comes late or twice changes nothing.
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

/** Nothing changes it any more. */
export function isFinal(state: IntentState): boolean {
  return !unended.some((each) => each === state)
}
