import { createHash } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'

/** Previous hash of each provider's first seal. */
export const ledgerChainStart = createHash('sha256').update('tollgate ledger').digest('hex')

export type LedgerSeal = {
  /** Number of the seal, counted from 1 for each provider. */
  readonly number: bigint
  /** The seal covers the transactions with ids in (afterId, upToId]. */
  readonly afterId: bigint
  readonly upToId: bigint
  readonly transactions: bigint
  readonly previousSha256: string
  readonly sha256: string
}

type Range = Pick<LedgerSeal, 'afterId' | 'upToId'>

/**
 * Returns the hash of the transactions in a range and of the previous seal. Each transaction with its entries is one line of text
 * that never changes: columns added later must not change the line of older transactions.
 */
export async function hashTransactions(
  sql: Queryable,
  providerId: string,
  { afterId, upToId }: Range,
  previousSha256: string,
): Promise<Pick<LedgerSeal, 'transactions' | 'sha256'>> {
  const [row] = await sql<{ transactions: bigint; sha256: string }[]>`
    select count(*) as transactions, encode(sha256(convert_to(
      ${previousSha256}::text || coalesce(string_agg(E'\n' || line, '' order by id), ''), 'UTF8'
    )), 'hex') as sha256
    from (
      select id, json_build_array(
        id, reference, kind, transaction_key, input_sha256, customer_ref, invoice_ref, reason,
        result, (extract(epoch from created_at) * 1000000)::bigint, (
          select json_agg(
            json_build_array(line, account, customer_ref, unit, amount::text) order by line)
          from ledger_entries where provider_id = ${providerId} and transaction_ref = reference)
      )::text as line
      from ledger_transactions
      where provider_id = ${providerId} and id > ${String(afterId)} and id <= ${String(upToId)}
    ) as posted`
  return row!
}

/** Returns the id of the last of the first `rowsMax` transactions after `afterId`. Undefined if there is none up to `upToId`. */
export async function findLastTransactionId(
  sql: Queryable,
  providerId: string,
  { afterId, upToId }: Range,
  rowsMax: number,
): Promise<bigint | undefined> {
  const [row] = await sql<{ id: bigint | null }[]>`
    select max(id) as id from (
      select id from ledger_transactions
      where provider_id = ${providerId} and id > ${String(afterId)} and id <= ${String(upToId)}
      order by id limit ${rowsMax}
    ) as posted`
  return row?.id ?? undefined
}

/** Returns the largest visible transaction id, 0 if there is none. */
export async function findNewestTransactionId(sql: Queryable): Promise<bigint> {
  const [row] = await sql<{ id: bigint }[]>`
    select coalesce(max(id), 0) as id from ledger_transactions`
  return row!.id
}

/** Returns providers with transactions in the range that no seal covers. */
export async function listUnsealedLedgers(
  sql: Queryable,
  { afterId, upToId }: Range,
  rowsMax: number,
): Promise<string[]> {
  const rows = await sql<{ provider_id: string }[]>`
    select distinct provider_id from ledger_transactions
    left join (
      select provider_id, max(up_to_id) as up_to_id from ledger_seals group by provider_id
    ) as sealed using (provider_id)
    where id > ${String(afterId)} and id <= ${String(upToId)} and id > coalesce(sealed.up_to_id, 0)
    limit ${rowsMax}`
  return rows.map((row) => row.provider_id)
}

export async function listSealedLedgers(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ provider_id: string }[]>`
    select distinct provider_id from ledger_seals order by 1`
  return rows.map((row) => row.provider_id)
}

export async function insertLedgerSeal(
  sql: Queryable,
  providerId: string,
  seal: LedgerSeal,
  sealedAt: Date,
): Promise<void> {
  await sql`
    insert into ledger_seals
      (provider_id, number, after_id, up_to_id, transactions, previous_sha256, sha256, sealed_at)
    values (${providerId}, ${String(seal.number)}, ${String(seal.afterId)}, ${String(seal.upToId)},
      ${String(seal.transactions)}, ${seal.previousSha256}, ${seal.sha256}, ${sealedAt})`
}

export async function findLastLedgerSeal(
  sql: Queryable,
  providerId: string,
): Promise<LedgerSeal | undefined> {
  const [row] = await sql<SealRow[]>`
    select * from ledger_seals where provider_id = ${providerId} order by number desc limit 1`
  return row === undefined ? undefined : sealFromRow(row)
}

/** Returns seals in order, after the seal with that number. */
export async function listLedgerSeals(
  sql: Queryable,
  providerId: string,
  afterNumber: bigint,
  rowsMax: number,
): Promise<LedgerSeal[]> {
  const rows = await sql<SealRow[]>`
    select * from ledger_seals where provider_id = ${providerId} and number > ${String(afterNumber)}
    order by number limit ${rowsMax}`
  return rows.map(sealFromRow)
}

type SealRow = {
  number: bigint
  after_id: bigint
  up_to_id: bigint
  transactions: bigint
  previous_sha256: string
  sha256: string
}

function sealFromRow(row: SealRow): LedgerSeal {
  return {
    number: row.number,
    afterId: row.after_id,
    upToId: row.up_to_id,
    transactions: row.transactions,
    previousSha256: row.previous_sha256,
    sha256: row.sha256,
  }
}
