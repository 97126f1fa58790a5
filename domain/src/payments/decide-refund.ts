import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { divideRounded } from '../money/decimal.ts'
import type { RefundState } from './refunds-repository.ts'

/** Order of the states: a refund never moves back. It can fail after it had succeeded. */
const rank: Readonly<Record<RefundState, number>> = {
  pending: 0,
  succeeded: 1,
  failed: 2,
  canceled: 2,
}

/** Returns whether the status is later than the stored one. `known` is undefined if the refund is new. */
export function isLaterRefund(known: RefundState | undefined, status: RefundState): boolean {
  return known === undefined || rank[status] > rank[known]
}

/**
 * Returns our state of a refund. A refund that needs the customer to name an account for the money (`requires_action`) is pending.
 */
export function refundStateOf({ status }: Pick<Refund, 'status'>): RefundState {
  return status === 'requires_action' ? 'pending' : status
}

/** A payment with its tax, and the amount and tax already refunded. Minor units. */
export type TaxedPayment = {
  readonly totalMinor: bigint
  readonly taxMinor: bigint
  readonly refundedMinor: bigint
  readonly refundedTaxMinor: bigint
}

/**
 * Returns the part of a refund that is tax. The tax is rounded on the running total of all refunds, so the parts of a fully
 * refunded payment add up to its tax.
 */
export function taxOfRefund(payment: TaxedPayment, amountMinor: bigint): bigint {
  const { totalMinor, taxMinor, refundedMinor, refundedTaxMinor } = payment
  const upTo = divideRounded(taxMinor * (refundedMinor + amountMinor), totalMinor)
  const part = upTo - refundedTaxMinor
  return part < 0n ? 0n : part < amountMinor ? part : amountMinor
}
