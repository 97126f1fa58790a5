import type { Payout } from '@tollgate/platform/payments/payment-objects'
import {
  fromProcessorAmount,
  processorUnitsPerMinor,
} from '@tollgate/platform/payments/processor-amounts'
import type { AtProcessor } from '../money-ledger/at-processor.ts'

type PayoutStatus = Payout['status']

/** A payout that was paid can still fail, days later, and never the other way round. */
const rank: Readonly<Record<PayoutStatus, number>> = {
  pending: 0,
  in_transit: 1,
  paid: 2,
  failed: 3,
  canceled: 3,
}

/** Whether the status is later than the one stored; undefined: none is stored. */
export function isLaterPayout(known: PayoutStatus | undefined, status: PayoutStatus): boolean {
  return known === undefined || rank[status] > rank[known]
}

/**
 * Returns which way the money moved with a status that is later than the one stored: to the bank once the payout is paid,
 * and back if a paid payout fails. A payout that fails before it was seen to be paid has moved nothing.
 */
export function payoutMove(
  known: PayoutStatus | undefined,
  status: PayoutStatus,
): 'to-bank' | 'back' | 'none' {
  if (status === 'paid') return 'to-bank'
  return known === 'paid' ? 'back' : 'none'
}

/**
 * Returns what a movement of the processor is by our count: as much as brings `clearingMinor` to what is there then, to
 * the nearest minor unit. So fees that are finer than a minor unit add up to no more than half of one.
 */
export function movedAtProcessor(
  { clearingMinor, restUnits }: AtProcessor,
  currency: string,
  units: bigint,
): { readonly amountMinor: bigint; readonly restUnits: bigint } {
  const unitsPerMinor = processorUnitsPerMinor(currency)
  if (unitsPerMinor === 1n) return { amountMinor: units, restUnits: 0n }
  const there = clearingMinor * unitsPerMinor + restUnits
  const amountMinor = fromProcessorAmount(there + units, currency) - clearingMinor
  return { amountMinor, restUnits: units - amountMinor * unitsPerMinor }
}
