import type { Sql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { areTransactionsOver } from '../postgres/transactions-over.ts'
import { chainOn, auditChainStart } from './chain.ts'
import {
  findLastSeal,
  findNewestId,
  insertSeal,
  listEntriesBetween,
  listUnsealed,
} from './repository.ts'

/** Entries of one seal: what is held in memory. */
export const entriesPerSealMax = 1_000

/** Providers of one round: a stop waits for no more than that. */
const providersPerRoundMax = 200

export type SealedRound = {
  readonly sealed: number
  /** Up to this id all entries are sealed: the next round needs to look only at what comes after it. */
  readonly sealedToId: bigint
}

/**
 * Seals what was appended to the log before this was called, once nothing can be appended there any more. Several
 * processes may do it at once: those that seal the same provider take turns, and the second finds the work done.
 *
 * A transaction takes the ids of its entries before it commits, so newer ones may be seen earlier. It had changed a row
 * before it took an id, and so has a number of its own; when all transactions with the numbers of now are over, no entry
 * up to the newest id of now is missing.
 */
export async function sealEntries(pool: Sql, sealedToId: bigint, now: Date): Promise<SealedRound> {
  const upToId = await findNewestId(pool)
  const nothing = { sealed: 0, sealedToId }
  if (upToId <= sealedToId || !(await areTransactionsOver(pool))) return nothing
  const providers = await listUnsealed(pool, sealedToId, upToId, providersPerRoundMax)
  let isAll = providers.length < providersPerRoundMax
  let sealed = 0
  for (const providerId of providers) {
    const entries = await pool.begin((sql) => sealProvider(sql, providerId, upToId, now))
    sealed += entries
    isAll &&= entries < entriesPerSealMax
  }
  return { sealed, sealedToId: isAll ? upToId : sealedToId }
}

/** One seal; what is too much for it waits for the next round. Whoever seals the same provider waits here. */
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
    sha256: chainOn(previousSha256, entries),
    sealedAt,
  })
  return entries.length
}
