import type { Sql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { waitForTransactions } from '../postgres/wait-for-transactions.ts'
import { extendChain, auditChainStart } from './chain.ts'
import {
  findLastSeal,
  findNewestEntryId,
  insertSeal,
  listEntriesBetween,
  listUnsealedProviders,
} from './repository.ts'

/** Largest number of entries per seal, which are held in memory together. */
export const entriesPerSealMax = 1_000

/** Largest number of providers per round. A shutdown waits for one round at most. */
const providersPerRoundMax = 200

export type SealedRound = {
  readonly sealed: number
  /** All entries up to this id are sealed. The next round starts after it. */
  readonly sealedToId: bigint
}

/**
 * Seals the entries that were appended before this call, once no more entries can appear among them. Several processes
 * may do this at once: processes that seal the same provider take turns, and the second one finds nothing to do.
 *
 * A transaction takes the ids of its entries before it commits, so entries with higher ids may become visible earlier.
 * Such a transaction changed a row before it took an id, so it already had a transaction number. Once all transactions
 * that had a number at this moment have ended, no entry up to the newest id of this moment is missing.
 */
export async function sealEntries(pool: Sql, sealedToId: bigint, now: Date): Promise<SealedRound> {
  const upToId = await findNewestEntryId(pool)
  const nothing = { sealed: 0, sealedToId }
  if (upToId <= sealedToId || !(await waitForTransactions(pool))) return nothing
  const providers = await listUnsealedProviders(pool, sealedToId, upToId, providersPerRoundMax)
  let isComplete = providers.length < providersPerRoundMax
  let sealed = 0
  for (const providerId of providers) {
    const entries = await pool.begin((sql) => sealProvider(sql, providerId, upToId, now))
    sealed += entries
    isComplete &&= entries < entriesPerSealMax
  }
  return { sealed, sealedToId: isComplete ? upToId : sealedToId }
}

/**
 * Makes one seal. Entries that do not fit wait for the next round. Processes that seal the same provider wait for each
 * other here.
 */
async function sealProvider(
  sql: Queryable,
  providerId: string,
  upToId: bigint,
  sealedAt: Date,
): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`audit seal ${providerId}`}, 0))`
  const last = await findLastSeal(sql, providerId)
  const afterId = last?.upToId ?? 0n
  const entries = await listEntriesBetween(sql, providerId, afterId, upToId, entriesPerSealMax)
  const newest = entries.at(-1)
  if (newest === undefined) return 0
  const previousSha256 = last?.sha256 ?? auditChainStart
  await insertSeal(sql, {
    providerId,
    number: (last?.number ?? 0n) + 1n,
    afterId,
    upToId: newest.id,
    entries: BigInt(entries.length),
    previousSha256,
    sha256: extendChain(previousSha256, entries),
    sealedAt,
  })
  return entries.length
}
