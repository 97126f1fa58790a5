/** What a wallet paid for one usage record. */
export type StoredDebit = {
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  /** 10^-6 credits, more than nothing. */
  readonly micros: bigint
}

/** Debits of one partition of the log: all of them from one offset up to another. */
export type DebitBatch = {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  /** In the order of the log. */
  readonly debits: readonly StoredDebit[]
}

/** What one wallet paid. */
export type WalletDebits = {
  readonly providerId: string
  readonly customerRef: string
  /** Sums, by product. */
  readonly byProduct: Map<string, bigint>
}

/** Returns the debits by wallet, in the order in which wallets are locked. */
export function walletsOf(debits: readonly StoredDebit[]): WalletDebits[] {
  const wallets = new Map<string, WalletDebits>()
  for (const { providerId, customerRef, productRef, micros } of debits) {
    const key = JSON.stringify([providerId, customerRef])
    const wallet = wallets.get(key) ?? {
      providerId,
      customerRef,
      byProduct: new Map<string, bigint>(),
    }
    wallets.set(key, wallet)
    wallet.byProduct.set(productRef, (wallet.byProduct.get(productRef) ?? 0n) + micros)
  }
  return [...wallets].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
}

/** What one product took of a balance. */
export type DebitStep = {
  readonly productRef: string
  readonly micros: bigint
  readonly beforeMicros: bigint
  readonly afterMicros: bigint
}

/** Returns what each product took in turn. What was taken beyond the balance and written off was never there. */
export function stepsOf(
  balanceMicros: bigint,
  byProduct: ReadonlyMap<string, bigint>,
): readonly DebitStep[] {
  let beforeMicros = balanceMicros
  return [...byProduct].map(([productRef, micros]) => {
    const afterMicros = beforeMicros > micros ? beforeMicros - micros : 0n
    const step = { productRef, micros, beforeMicros, afterMicros }
    beforeMicros = afterMicros
    return step
  })
}
