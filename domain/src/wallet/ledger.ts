import { createHash } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

/** Credits are counted in 10^-6 of one. */
export type LedgerEntry = {
  readonly account: 'wallet' | 'granted' | 'used' | 'written_off'
  /** Never nothing; the entries of a transaction add up to nothing. */
  readonly amountMicros: bigint
}

export type LedgerTransaction = {
  readonly reference: string
  readonly kind: 'grant' | 'usage' | 'write_off'
  /** Unique for the provider: a second posting with this key is a repetition of the first. */
  readonly key: string
  /** What was asked for, to tell a repetition from another use of the key. */
  readonly inputSha256: string
  readonly customerRef: string
  readonly reason: string | null
  /** What the caller is told, now and whenever it repeats the call. */
  readonly result: JsonObject
  readonly createdAt: Date
  readonly entries: readonly LedgerEntry[]
}

export type PostedTransaction = Pick<LedgerTransaction, 'inputSha256' | 'result'>

/** Breaks the unique constraint where the key was used, and the transaction where entries do not add up. */
export async function insertTransaction(
  sql: Queryable,
  providerId: string,
  { entries, ...transaction }: LedgerTransaction,
): Promise<void> {
  const { reference, kind, key, inputSha256, customerRef, reason, result, createdAt } = transaction
  await sql`
    insert into ledger_transactions
      (provider_id, reference, kind, transaction_key, input_sha256, customer_ref, reason, result,
       created_at)
    values (${providerId}, ${reference}, ${kind}, ${key}, ${inputSha256}, ${customerRef},
      ${reason}, ${jsonb(sql, result)}, ${createdAt})`
  const rows = entries.map(({ account, amountMicros }, line) => ({
    provider_id: providerId,
    transaction_ref: reference,
    line,
    account,
    customer_ref: customerRef,
    unit: 'credits',
    amount: amountMicros.toString(),
  }))
  await sql`insert into ledger_entries ${sql(rows)}`
}

export async function findPostedTransaction(
  sql: Queryable,
  providerId: string,
  key: string,
): Promise<PostedTransaction | undefined> {
  const [row] = await sql<{ input_sha256: string; result: JsonObject }[]>`
    select input_sha256, result from ledger_transactions
    where provider_id = ${providerId} and transaction_key = ${key}`
  return row === undefined ? undefined : { inputSha256: row.input_sha256, result: row.result }
}

export function sha256OfInput(input: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('hex')
}

export type UnbalancedWallet = {
  readonly providerId: string
  readonly customerRef: string
  readonly balanceMicros: bigint
  readonly entriesMicros: bigint
  readonly grantsMicros: bigint
}

/** Wallets whose kept balance is not what their entries, or what is left of their grants, add up to. None, if all is well. */
export async function listUnbalancedWallets(
  sql: Queryable,
  rowsMax: number,
): Promise<UnbalancedWallet[]> {
  const rows = await sql<
    {
      provider_id: string
      customer_ref: string
      balance: string
      entries: string
      grants: string
    }[]
  >`
    select wallets.provider_id, wallets.customer_ref, balance_micros as balance,
      coalesce(entries.sum, 0) as entries, coalesce(grants.sum, 0) as grants
    from wallets
    left join (
      select provider_id, customer_ref, sum(amount) from ledger_entries
      where account = 'wallet' and unit = 'credits' group by provider_id, customer_ref
    ) as entries using (provider_id, customer_ref)
    left join (
      select provider_id, customer_ref, sum(remaining_micros) from credit_grants
      group by provider_id, customer_ref
    ) as grants using (provider_id, customer_ref)
    where balance_micros <> coalesce(entries.sum, 0) or balance_micros <> coalesce(grants.sum, 0)
    limit ${rowsMax}`
  return rows.map((row) => ({
    providerId: row.provider_id,
    customerRef: row.customer_ref,
    balanceMicros: BigInt(row.balance),
    entriesMicros: BigInt(row.entries),
    grantsMicros: BigInt(row.grants),
  }))
}
