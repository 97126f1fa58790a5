import type { Payout } from '@tollgate/platform/payments/payment-objects'
import {
  fromProcessorAmount,
  processorUnitsPerMinor,
} from '@tollgate/platform/payments/processor-amounts'
import type { ProcessorBalance } from '../money-ledger/processor-balance.ts'

type PayoutStatus = Payout['status']

/** Order of the statuses. A paid payout can still fail days later, but a failed payout is never paid. */
const rank: Readonly<Record<PayoutStatus, number>> = {
  pending: 0,
  in_transit: 1,
  paid: 2,
  failed: 3,
  canceled: 3,
}

/** Returns whether the status is later than the stored one. `known` is undefined if the payout is new. */
export function isLaterPayout(known: PayoutStatus | undefined, status: PayoutStatus): boolean {
  return known === undefined || rank[status] > rank[known]
}

/**
 * Returns which way the money moved with a status that is later than the stored one: to the bank when the payout is paid, and back
 * if a paid payout fails. A payout that fails before it was stored as paid has moved nothing.
 */
export function payoutMove(
  known: PayoutStatus | undefined,
  status: PayoutStatus,
): 'to-bank' | 'back' | 'none' {
  if (status === 'paid') return 'to-bank'
  return known === 'paid' ? 'back' : 'none'
}

/**
 * Converts a movement at the processor into minor units of the ledger. The result brings `clearingMinor` to the processor's
 * balance, rounded to the nearest minor unit. Fees finer than a minor unit thus add up to a difference of at most half a minor
 * unit.
 */
export function toClearingMovement(
  { clearingMinor, restUnits }: ProcessorBalance,
  currency: string,
  units: bigint,
): { readonly amountMinor: bigint; readonly restUnits: bigint } {
  const unitsPerMinor = processorUnitsPerMinor(currency)
  if (unitsPerMinor === 1n) return { amountMinor: units, restUnits: 0n }
  const there = clearingMinor * unitsPerMinor + restUnits
  const amountMinor = fromProcessorAmount(there + units, currency) - clearingMinor
  return { amountMinor, restUnits: units - amountMinor * unitsPerMinor }
}
