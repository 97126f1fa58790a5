/*
 * Amounts as the payment processor counts them. We count as the wire's contract does: whole units of a currency that is
 * sold without decimals, hundredths of any other. Currencies are upper case.
 */

/** Three decimals, of which card networks take two. */
const thousandths: ReadonlySet<string> = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])

/** The processor's units of one of our minor units. */
export function processorUnitsPerMinor(currency: string): bigint {
  if (thousandths.has(currency)) return 10n
  // Sold in whole units, and still written with two decimals, which must be zeros.
  return currency === 'UGX' ? 100n : 1n
}

/** An amount that is charged must be a multiple of it. Minor units. */
export function chargeStepMinor(currency: string): bigint {
  // Sold in whole units, which we count in hundredths as the processor does.
  return currency === 'ISK' ? 100n : 1n
}

export function toProcessorAmount(amountMinor: bigint, currency: string): bigint {
  return amountMinor * processorUnitsPerMinor(currency)
}

/** What is left out by it: less than one of our minor units, either way. */
export function restOfProcessorAmount(amount: bigint, currency: string): bigint {
  return amount - toProcessorAmount(fromProcessorAmount(amount, currency), currency)
}

/** Half away from zero: what the processor takes as a fee may be finer than we count. */
export function fromProcessorAmount(amount: bigint, currency: string): bigint {
  const units = processorUnitsPerMinor(currency)
  const half = amount < 0n ? -units / 2n : units / 2n
  return (amount + half) / units
}
