import type { Queryable } from '@tollgate/platform/database/database'
import {
  ledgerChainStart,
  hashTransactions,
  listLedgerSeals,
  type LedgerSeal,
} from './ledger-seals.ts'

const sealsPerPage = 500

/** Returns the first seal of a provider that no longer matches the posted transactions; undefined if all match. */
export async function findBrokenSeal(
  sql: Queryable,
  providerId: string,
): Promise<LedgerSeal | undefined> {
  let previous: LedgerSeal | undefined
  for (;;) {
    const seals = await listLedgerSeals(sql, providerId, previous?.number ?? 0n, sealsPerPage)
    for (const seal of seals) {
      const posted = await hashTransactions(sql, providerId, seal, seal.previousSha256)
      const isWhole =
        follows(seal, previous) &&
        posted.sha256 === seal.sha256 &&
        posted.transactions === seal.transactions
      if (!isWhole) return seal
      previous = seal
    }
    if (seals.length < sealsPerPage) return undefined
  }
}

function follows(seal: LedgerSeal, previous: LedgerSeal | undefined): boolean {
  return (
    seal.number === (previous?.number ?? 0n) + 1n &&
    seal.afterId === (previous?.upToId ?? 0n) &&
    seal.previousSha256 === (previous?.sha256 ?? ledgerChainStart)
  )
}
