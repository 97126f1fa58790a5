import { minorPerMajor, processorMinimumOf } from './currencies.ts'

/*
 * Amounts as the payment processor counts them, which is neither how we do (see `minorPerMajor`) nor always how
 * ISO 4217 does. Amounts in and out of here are whole; currencies are upper case.
 */

export type ProcessorUnits = {
  /** The processor's units of one major unit. */
  readonly perMajor: bigint
  /** An amount must be a multiple of it, in the processor's units. */
  readonly step: bigint
}

/** Three decimals, of which card networks take two. */
const threeDecimal: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])

/** Sold in whole units for years, and still written with two decimals that must be zeros. */
const wholeInHundredths: ReadonlySet<string> = new Set(['ISK', 'UGX'])

export function processorUnitsOf(currency: string): ProcessorUnits {
  if (threeDecimal.has(currency)) return { perMajor: 1000n, step: 10n }
  if (wholeInHundredths.has(currency)) return { perMajor: 100n, step: 100n }
  return { perMajor: minorPerMajor(currency), step: 1n }
}

/** Throws RangeError for an amount that the processor cannot be asked for: see `chargeableMinor`. */
export function toProcessorAmount(amountMinor: bigint, currency: string): bigint {
  const { perMajor, step } = processorUnitsOf(currency)
  const scaled = amountMinor * perMajor
  const ours = minorPerMajor(currency)
  if (scaled % ours !== 0n || (scaled / ours) % step !== 0n) {
    throw new RangeError(`${amountMinor} minor units of ${currency} cannot be charged`)
  }
  return scaled / ours
}

/** Throws RangeError for an amount that is no whole number of our minor units. */
export function fromProcessorAmount(amount: bigint, currency: string): bigint {
  const { perMajor } = processorUnitsOf(currency)
  const scaled = amount * minorPerMajor(currency)
  if (scaled % perMajor !== 0n) throw new RangeError(`${amount} of ${currency} has too many digits`)
  return scaled / perMajor
}

/** The most of an amount that the processor can be asked for; what is left is less than one of its steps. Minor units. */
export function chargeableMinor(amountMinor: bigint, currency: string): bigint {
  const { perMajor, step } = processorUnitsOf(currency)
  const ours = minorPerMajor(currency)
  // In minor units a step is `step * ours / perMajor`, and less than one of them is none.
  const stepMinor = (step * ours) / perMajor
  return stepMinor <= 1n ? amountMinor : amountMinor - (amountMinor % stepMinor)
}

/** The processor takes eight digits. In its own units. */
const processorAmountMax = 99_999_999n

export function chargeMaxMinor(currency: string): bigint {
  const { perMajor } = processorUnitsOf(currency)
  return chargeableMinor((processorAmountMax * minorPerMajor(currency)) / perMajor, currency)
}

/** Nothing below is charged. Minor units. */
export function chargeMinMinor(currency: string): bigint {
  return processorMinimumOf(currency)
}
