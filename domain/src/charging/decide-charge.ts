import type { Invoice } from '../invoices/invoice.ts'
import { savedCardOf, type PaymentAttempt } from '../payments/attempts-repository.ts'
import type { IntentState } from '../payments/transitions.ts'
import type { FailedCharge } from './charge-invoice.ts'

export type ChargeFacts = {
  /** The invoice is open, and no charge of it is in progress. */
  readonly invoice: Pick<Invoice, 'reference' | 'failedCharges' | 'countedFailure'>
  /** Status of the invoice's payment that can still succeed. Undefined if there is none. */
  readonly intentStatus: IntentState | undefined
  /** The last call that attempted to charge the invoice. */
  readonly last: PaymentAttempt | undefined
  /** The processor's id of the saved card. Undefined if there is no card to charge. */
  readonly method: string | undefined
}

export type ChargeDecision =
  /** No call is made. This attempt counts as failed. */
  | FailedCharge
  /** A new payment charges the card. */
  | { readonly kind: 'open' }
  /** The payment that can still succeed charges the card. */
  | { readonly kind: 'confirm' }

/**
 * Decides how to charge an invoice without the customer being present. If the last attempt failed and is not counted
 * yet, that failure is returned first.
 */
export function decideCharge({ invoice, intentStatus, last, method }: ChargeFacts): ChargeDecision {
  const failed = countableFailureOf(last)
  if (failed !== undefined && !isCounted(invoice, failed.failure)) return failed
  if (method === undefined) return failureWithoutCall(invoice, last, false)
  if (last !== undefined && savedCardOf(last) === method) {
    // Only the customer or another card can change the outcome.
    if (last.decline === 'hard') return failureWithoutCall(invoice, last, true)
    const isAsked = last.decline === 'customer' || intentStatus === 'requires_action'
    if (isAsked) return failureWithoutCall(invoice, last, false)
  }
  return { kind: intentStatus === undefined ? 'open' : 'confirm' }
}

/**
 * Returns the failure of the last attempt, or undefined if it is not known to have failed. Also returns undefined if
 * the failure does not count toward suspension, because the customer was present or the provider requested the charge.
 * The mark for this is stored with the attempt, so it survives a crash.
 */
export function countableFailureOf(last: PaymentAttempt | undefined): FailedCharge | undefined {
  return last?.request['isOutOfTurn'] === true ? undefined : chargeFailureOf(last)
}

/** Like `countableFailureOf`, but also returns failures of charges that the provider requested. */
export function chargeFailureOf(last: PaymentAttempt | undefined): FailedCharge | undefined {
  if (last?.request['presence'] === 'on_session') return undefined
  if (last?.outcome !== 'declined' && last?.outcome !== 'refused') return undefined
  return { kind: 'declined', isFinal: last.decline === 'hard', failure: last.key }
}

/**
 * Returns a failure for an attempt that makes no call. The failure's name starts with the key of the last call, so
 * counting this failure also counts that call.
 */
export function failureWithoutCall(
  { reference, failedCharges }: ChargeFacts['invoice'],
  last: PaymentAttempt | undefined,
  isFinal: boolean,
): FailedCharge {
  const failure = `${last?.key ?? reference}${withoutCallMarker}${failedCharges}`
  return { kind: 'declined', isFinal, failure }
}

const withoutCallMarker = ':unasked:'

/** Returns whether the failure was counted, either by itself or with a later attempt that made no call. */
function isCounted({ countedFailure }: ChargeFacts['invoice'], failure: string): boolean {
  if (countedFailure === null) return false
  return countedFailure === failure || countedFailure.startsWith(`${failure}${withoutCallMarker}`)
}
