/** Name of a customer's packs of one product. */
export type AccountName = { readonly customerRef: string; readonly productRef: string }

/** The units of one purchase of a pack, 10^-6. */
export type Pack = {
  readonly purchaseRef: string
  readonly meterName: string
  readonly unitsMicros: bigint
  readonly usedMicros: bigint
  readonly takenMicros: bigint
  /** Units of refunds and disputes that are not settled yet. */
  readonly claimedMicros: bigint
  readonly startsAt: Date
  /** Null if the units do not expire. */
  readonly endsAt: Date | null
}

/** Units of the packs of a meter that paid for usage of one period of a purchase, 10^-6. */
export type PackUse = {
  readonly purchaseRef: string
  readonly meterName: string
  readonly periodStart: Date
  readonly micros: bigint
}

export type PackAccount = AccountName & {
  /** Usage of periods and packs that ended until then is in `uses`, except late usage. */
  readonly settledTo: Date
  /** In the order of their purchase. */
  readonly packs: readonly Pack[]
  readonly uses: readonly PackUse[]
}

/** Units of one pack that pay for usage of a period. */
export type PackDraw = Omit<PackUse, 'meterName'> & { readonly packRef: string }
