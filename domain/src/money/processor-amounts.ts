import {
  chargeStepMinor,
  processorUnitsPerMinor,
} from '@tollgate/platform/payments/processor-amounts'
import { processorMinimumOf } from './currencies.ts'

/* What can be charged at once. Amounts are minor units; currencies are upper case. */

/** The most of an amount that the processor can be asked for; what is left is less than one of its steps. */
export function chargeableMinor(amountMinor: bigint, currency: string): bigint {
  return amountMinor - (amountMinor % chargeStepMinor(currency))
}

/** The processor takes eight digits. In its own units. */
const processorAmountMax = 99_999_999n

export function chargeMaxMinor(currency: string): bigint {
  return chargeableMinor(processorAmountMax / processorUnitsPerMinor(currency), currency)
}

/** Nothing below is charged. */
export function chargeMinMinor(currency: string): bigint {
  return processorMinimumOf(currency)
}
