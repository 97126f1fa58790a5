import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { divideRounded } from '../money/decimal.ts'
import type { RefundState } from './refunds-repository.ts'

/** A refund goes on, never back. It can fail after it had succeeded. */
const rank: Readonly<Record<RefundState, number>> = {
  pending: 0,
  succeeded: 1,
  failed: 2,
  canceled: 2,
}

/** Whether the status is later than the one stored; undefined: none is stored. */
export function isLaterRefund(known: RefundState | undefined, status: RefundState): boolean {
  return known === undefined || rank[status] > rank[known]
}

/** Some refunds wait for the customer to say where to send the money. */
export function refundStateOf({ status }: Pick<Refund, 'status'>): RefundState {
  return status === 'requires_action' ? 'pending' : status
}

/** A payment with its tax, and what was refunded of it before. Minor units. */
export type TaxedPayment = {
  readonly totalMinor: bigint
  readonly taxMinor: bigint
  readonly refundedMinor: bigint
  readonly refundedTaxMinor: bigint
}

/**
 * Returns the part of a refund that is tax. It is rounded once for all that was refunded by now, so that the parts of a
 * payment that is refunded in full add up to its tax.
 */
export function taxOfRefund(payment: TaxedPayment, amountMinor: bigint): bigint {
  const { totalMinor, taxMinor, refundedMinor, refundedTaxMinor } = payment
  const upTo = divideRounded(taxMinor * (refundedMinor + amountMinor), totalMinor)
  const part = upTo - refundedTaxMinor
  return part < 0n ? 0n : part < amountMinor ? part : amountMinor
}
