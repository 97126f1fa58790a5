/** 10,000 credits or 100 cents are worth one US dollar. */
const picosPerMicroCredit = 100n
const picosPerCent = 10n ** 10n

export type Revenue = {
  /** 10^-6 credits. */
  readonly debitedMicros: bigint
  readonly invoiced: readonly { readonly currency: string; readonly amountMinor: bigint }[]
}

/** Returns the revenue less the cost, in 10^-12 US dollars, or undefined if a part of the revenue has another currency. */
export function marginPicos(
  { debitedMicros, invoiced }: Revenue,
  costPicos: bigint,
): bigint | undefined {
  let picos = debitedMicros * picosPerMicroCredit - costPicos
  for (const { currency, amountMinor } of invoiced) {
    if (currency !== 'USD') return undefined
    picos += amountMinor * picosPerCent
  }
  return picos
}
