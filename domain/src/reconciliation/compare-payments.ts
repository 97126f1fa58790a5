import type {
  Dispute,
  PaymentIntent as ProcessorIntent,
  Payout,
  Refund,
} from '@tollgate/platform/payments/payment-objects'
import { isFinal, type IntentState } from '../payments/transitions.ts'
import type { Difference } from './finding.ts'

/** A row of ours about an object that the processor has as well. */
export type OwnRow = {
  readonly providerId: string
  readonly reference: string
  readonly processorId: string
  readonly status: string
  readonly amountMinor: bigint
  readonly currency: string
  readonly updatedAt: Date
}

export type Compared = {
  readonly difference: Difference
  readonly ours: string | null
  readonly theirs: string | null
}

type Sum = Pick<OwnRow, 'status' | 'amountMinor' | 'currency'>

/** Returns the difference. Undefined if both sides agree or the payment is in progress. */
export function comparePayment(
  ours: OwnRow | undefined,
  theirs: ProcessorIntent | undefined,
): Compared | undefined {
  return compare(ours, theirs && sumOfPayment(theirs), isSamePayment)
}

/** Only final states are compared. Before that, webhooks and polls bring the two sides in line. */
function isSamePayment(ours: Sum, theirs: Sum): boolean {
  const hasEnded = isFinal(ours.status as IntentState)
  switch (theirs.status) {
    case 'succeeded':
      return ours.status === 'succeeded' && isSameAmount(ours, theirs)
    case 'canceled':
      return ours.status === 'canceled' || ours.status === 'failed'
    default:
      return !hasEnded
  }
}

function sumOfPayment({ status, amountMinor, receivedMinor, currency }: ProcessorIntent): Sum {
  return { status, currency, amountMinor: status === 'succeeded' ? receivedMinor : amountMinor }
}

/** A refund that needs the customer to name an account for the money (`requires_action`) counts as pending. */
export function compareRefund(
  ours: OwnRow | undefined,
  theirs: Refund | undefined,
): Compared | undefined {
  const status = theirs?.status === 'requires_action' ? 'pending' : theirs?.status
  return compare(ours, theirs && { ...theirs, status: status! }, isSame)
}

export function compareDispute(
  ours: OwnRow | undefined,
  theirs: Dispute | undefined,
): Compared | undefined {
  return compare(ours, theirs, isSame)
}

export function comparePayout(
  ours: OwnRow | undefined,
  theirs: Payout | undefined,
): Compared | undefined {
  return compare(ours, theirs, isSame)
}

function compare(
  ours: Sum | undefined,
  theirs: Sum | undefined,
  isSameSum: (ours: Sum, theirs: Sum) => boolean,
): Compared | undefined {
  const texts = { ours: ours ? sumText(ours) : null, theirs: theirs ? sumText(theirs) : null }
  if (ours === undefined && theirs === undefined) return undefined
  if (ours === undefined) return { difference: 'missing_here', ...texts }
  if (theirs === undefined) return { difference: 'missing_there', ...texts }
  return isSameSum(ours, theirs) ? undefined : { difference: 'differs', ...texts }
}

function isSame(ours: Sum, theirs: Sum): boolean {
  return ours.status === theirs.status && isSameAmount(ours, theirs)
}

function isSameAmount(ours: Sum, theirs: Sum): boolean {
  return ours.amountMinor === theirs.amountMinor && ours.currency === theirs.currency
}

function sumText({ status, amountMinor, currency }: Sum): string {
  return `${status} ${amountMinor} ${currency}`
}
