/** The debit of a wallet for one usage record. */
export type StoredDebit = {
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  /** Amount in 10^-6 credits. Negative if a correction gives credits back. */
  readonly micros: bigint
}

/** All debits of one log partition from `fromOffset` up to `toOffset`. */
export type DebitBatch = {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  /** Debits in the order of the log. */
  readonly debits: readonly StoredDebit[]
}

/** Debits of one wallet. */
export type WalletDebits = {
  readonly providerId: string
  readonly customerRef: string
  /** Sums by product, 10^-6 credits. */
  readonly byProduct: Map<string, bigint>
}

/** Returns the debits by wallet, in the order in which wallets are locked. */
export function groupByWallet(debits: readonly StoredDebit[]): WalletDebits[] {
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

/** The debit of one product and the balance before and after it. */
export type DebitStep = {
  readonly productRef: string
  readonly micros: bigint
  readonly beforeMicros: bigint
  readonly afterMicros: bigint
}

/** Returns the debit of each product in turn. The balance does not fall below 0, because credits used beyond it are written off. */
export function debitSteps(
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
