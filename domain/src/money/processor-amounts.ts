import {
  chargeStepMinor,
  processorUnitsPerMinor,
} from '@tollgate/platform/payments/processor-amounts'
import { processorMinimumOf } from './currencies.ts'

/* Limits of a single charge. Amounts are minor units, and currencies are in upper case. */

/** Returns the largest part of an amount that the processor can charge. The rest is smaller than one step of the processor. */
export function chargeableMinor(amountMinor: bigint, currency: string): bigint {
  return amountMinor - (amountMinor % chargeStepMinor(currency))
}

/** Largest amount of the processor, which takes 8 digits, in its own units. */
const processorAmountMax = 99_999_999n

export function chargeMaxMinor(currency: string): bigint {
  return chargeableMinor(processorAmountMax / processorUnitsPerMinor(currency), currency)
}

/** Returns whether the amount exceeds what the processor accepts in one charge. */
export function exceedsCharge(amountMinor: bigint, currency: string): boolean {
  return amountMinor > chargeMaxMinor(currency)
}

/** Returns the smallest amount that can be charged. */
export function chargeMinMinor(currency: string): bigint {
  return processorMinimumOf(currency)
}
