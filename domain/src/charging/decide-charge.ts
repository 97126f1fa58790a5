import type { Invoice } from '../invoices/invoice.ts'
import { savedMethodOf, type PaymentAttempt } from '../payments/attempts-repository.ts'
import type { IntentState } from '../payments/transitions.ts'
import type { FailedCharge } from './charge-invoice.ts'

export type ChargeFacts = {
  /** Open, and not under way. */
  readonly invoice: Pick<Invoice, 'reference' | 'failedCharges' | 'countedFailure'>
  /** Of the invoice's payment that can still be paid; undefined: none can. */
  readonly intentStatus: IntentState | undefined
  /** The last call that was to charge for the invoice. */
  readonly last: PaymentAttempt | undefined
  /** The saved card, by the processor's id; undefined: none can be charged. */
  readonly method: string | undefined
}

export type ChargeDecision =
  /** No call is made: this try has failed. */
  | FailedCharge
  /** The card is charged by a new payment. */
  | { readonly kind: 'open' }
  /** The card is charged by the payment that can still be paid. */
  | { readonly kind: 'confirm' }

/** Decides how an invoice is charged with nobody there. A failure that is not counted yet comes first. */
export function decideCharge({ invoice, intentStatus, last, method }: ChargeFacts): ChargeDecision {
  const failed = outcomeInTurn(last)
  if (failed !== undefined && !isCounted(invoice, failed.failure)) return failed
  if (method === undefined) return withoutCall(invoice, last, false)
  if (last !== undefined && savedMethodOf(last) === method) {
    // Only the customer, or another card, can change what came of it.
    if (last.decline === 'hard') return withoutCall(invoice, last, true)
    const isAsked = last.decline === 'customer' || intentStatus === 'requires_action'
    if (isAsked) return withoutCall(invoice, last, false)
  }
  return { kind: intentStatus === undefined ? 'open' : 'confirm' }
}

/**
 * Undefined if the last attempt has not failed, as far as is known, or does not count toward suspension: the customer was
 * present, or the provider asked for it. The attempt itself carries the mark, so it survives a crash.
 */
export function outcomeInTurn(last: PaymentAttempt | undefined): FailedCharge | undefined {
  return last?.request['isOutOfTurn'] === true ? undefined : outcomeOf(last)
}

/** Like `outcomeInTurn`, but also of a charge that the provider asked for. */
export function outcomeOf(last: PaymentAttempt | undefined): FailedCharge | undefined {
  if (last?.request['presence'] === 'on_session') return undefined
  if (last?.outcome !== 'declined' && last?.outcome !== 'refused') return undefined
  return { kind: 'declined', isFinal: last.decline === 'hard', failure: last.key }
}

/** The failure is named by the last call as well, which is counted with it. */
export function withoutCall(
  { reference, failedCharges }: ChargeFacts['invoice'],
  last: PaymentAttempt | undefined,
  isFinal: boolean,
): FailedCharge {
  const failure = `${last?.key ?? reference}${unasked}${failedCharges}`
  return { kind: 'declined', isFinal, failure }
}

const unasked = ':unasked:'

/** Whether the failure was counted, or a later try that made no call. */
function isCounted({ countedFailure }: ChargeFacts['invoice'], failure: string): boolean {
  if (countedFailure === null) return false
  return countedFailure === failure || countedFailure.startsWith(`${failure}${unasked}`)
}
