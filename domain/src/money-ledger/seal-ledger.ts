import type { Sql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { areTransactionsOver } from '../postgres/transactions-over.ts'
import {
  ledgerChainStart,
  findLastLedgerSeal,
  findLastPosted,
  findNewestPosted,
  hashPosted,
  insertLedgerSeal,
  listUnsealedLedgers,
} from './ledger-seals.ts'

/** Of one seal: what the database hashes at once. */
const transactionsPerSealMax = 1_000

/** Of one round: a stop waits for no more than that. */
const providersPerRoundMax = 200

/**
 * Seals what was posted before this was called, once nothing can be posted there any more: as the audit log is sealed. A
 * posting has locked what it is about before it takes an id, so its transaction is one of those that are waited for.
 * Returns up to which id everything is sealed: the next round needs to look only at what comes after it.
 */
export async function sealLedger(pool: Sql, sealedToId: bigint, now: Date): Promise<bigint> {
  const upToId = await findNewestPosted(pool)
  if (upToId <= sealedToId || !(await areTransactionsOver(pool))) return sealedToId
  const range = { afterId: sealedToId, upToId }
  const providers = await listUnsealedLedgers(pool, range, providersPerRoundMax)
  let isAll = providers.length < providersPerRoundMax
  for (const providerId of providers) {
    const sealed = await pool.begin((sql) => sealProvider(sql, providerId, upToId, now))
    isAll &&= sealed < transactionsPerSealMax
  }
  return isAll ? upToId : sealedToId
}

/** One seal; what is too much for it waits for the next round. Whoever seals the same provider waits here. */
async function sealProvider(
  sql: Queryable,
  providerId: string,
  newestId: bigint,
  sealedAt: Date,
): Promise<bigint> {
  await sql`
    select pg_advisory_xact_lock(
      hashtextextended(current_schema || ${` ledger seal ${providerId}`}, 0))`
  const last = await findLastLedgerSeal(sql, providerId)
  const afterId = last?.upToId ?? 0n
  const unsealed = { afterId, upToId: newestId }
  const upToId = await findLastPosted(sql, providerId, unsealed, transactionsPerSealMax)
  if (upToId === undefined) return 0n
  const previousSha256 = last?.sha256 ?? ledgerChainStart
  const posted = await hashPosted(sql, providerId, { afterId, upToId }, previousSha256)
  const number = (last?.number ?? 0n) + 1n
  const seal = { number, afterId, upToId, previousSha256, ...posted }
  await insertLedgerSeal(sql, providerId, seal, sealedAt)
  return posted.transactions
}
