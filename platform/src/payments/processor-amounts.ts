/*
 * Converts amounts between our minor units and the units of the payment processor. Our minor units, which are part of the API, are
 * whole units for currencies without decimals, and hundredths for all others. Currencies are in upper case.
 */

/** Currencies with three decimals. Card networks accept only two of them. */
const thousandths: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])

/** Returns how many units of the processor equal one of our minor units. */
export function processorUnitsPerMinor(currency: string): bigint {
  if (thousandths.has(currency)) return 10n
  // UGX has no decimals, but the processor still expects two, which must be zeros.
  return currency === 'UGX' ? 100n : 1n
}

/** Returns the step, in minor units, of which a charged amount must be a multiple. */
export function chargeStepMinor(currency: string): bigint {
  // ISK has no decimals, but we count it in hundredths as the processor does.
  return currency === 'ISK' ? 100n : 1n
}

export function toProcessorAmount(amountMinor: bigint, currency: string): bigint {
  return amountMinor * processorUnitsPerMinor(currency)
}

/**
 * Returns the remainder that `fromProcessorAmount` drops, in the processor's units: less than one of our minor units, positive or
 * negative.
 */
export function restOfProcessorAmount(amount: bigint, currency: string): bigint {
  return amount - toProcessorAmount(fromProcessorAmount(amount, currency), currency)
}

/** Converts an amount to minor units, rounded half away from zero. Fees of the processor may be finer than our minor units. */
export function fromProcessorAmount(amount: bigint, currency: string): bigint {
  const units = processorUnitsPerMinor(currency)
  const half = amount < 0n ? -units / 2n : units / 2n
  return (amount + half) / units
}
