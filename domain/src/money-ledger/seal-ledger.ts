import type { Sql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { waitForTransactions } from '../postgres/wait-for-transactions.ts'
import {
  ledgerChainStart,
  findLastLedgerSeal,
  findLastTransactionId,
  findNewestTransactionId,
  hashTransactions,
  insertLedgerSeal,
  listUnsealedLedgers,
} from './ledger-seals.ts'

/** Number of transactions that the database hashes for one seal. */
const transactionsPerSealMax = 1_000

/** Number of providers in one round, so that a stop need not wait for longer. */
const providersPerRoundMax = 200

/**
 * Seals what was posted before the call, after all transactions in progress have ended, like the audit log. A posting locks its
 * rows before it gets an id, so its transaction is among those waited for. Returns the id up to which everything is sealed. The
 * next round has to check only later ids.
 */
export async function sealLedger(pool: Sql, sealedToId: bigint, now: Date): Promise<bigint> {
  const upToId = await findNewestTransactionId(pool)
  if (upToId <= sealedToId || !(await waitForTransactions(pool))) return sealedToId
  const range = { afterId: sealedToId, upToId }
  const providers = await listUnsealedLedgers(pool, range, providersPerRoundMax)
  let isComplete = providers.length < providersPerRoundMax
  for (const providerId of providers) {
    const sealed = await pool.begin((sql) => sealProvider(sql, providerId, upToId, now))
    isComplete &&= sealed < transactionsPerSealMax
  }
  return isComplete ? upToId : sealedToId
}

/** Writes one seal. Transactions beyond its limit are left to the next round. A process that seals the same provider waits here. */
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
  const upToId = await findLastTransactionId(sql, providerId, unsealed, transactionsPerSealMax)
  if (upToId === undefined) return 0n
  const previousSha256 = last?.sha256 ?? ledgerChainStart
  const posted = await hashTransactions(sql, providerId, { afterId, upToId }, previousSha256)
  const number = (last?.number ?? 0n) + 1n
  const seal = { number, afterId, upToId, previousSha256, ...posted }
  await insertLedgerSeal(sql, providerId, seal, sealedAt)
  return posted.transactions
}
