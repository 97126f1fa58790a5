import type { MoneyAccount, MoneyEntry } from './ledger.ts'

export type Amounts = { readonly [Account in MoneyAccount]?: bigint }

/** Returns an entry for each amount that is not 0. */
export function entriesOf(currency: string, amounts: Amounts): MoneyEntry[] {
  return Object.entries(amounts)
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .map(([account, amountMinor]) => ({
      account: account as MoneyAccount,
      currency,
      amountMinor,
    }))
}
