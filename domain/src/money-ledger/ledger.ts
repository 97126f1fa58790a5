import { createHash } from 'node:crypto'
import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

/** One line of a transaction. The entries of a transaction sum to 0 in each unit. */
export type LedgerEntry = CreditEntry | MoneyEntry

export type CreditAccount =
  'wallet' | 'granted' | 'purchased' | 'used' | 'written_off' | 'adjusted' | 'breakage'

/** Entry of credits, counted in 10^-6 credits. */
type CreditEntry = {
  readonly account: CreditAccount
  /** Amount, never 0. */
  readonly amountMicros: bigint
}

/** `domain/migrations/environment/0006-ledger.sql` describes each account. */
export type MoneyAccount =
  | 'receivable'
  | 'carried'
  | 'revenue'
  | 'prepaid'
  | 'tax'
  | 'clearing'
  | 'bank'
  | 'outside'
  | 'fees'
  | 'fx'
  | 'refunds'
  | 'refunds_due'
  | 'disputes'
  | 'written_off'
  | 'breakage'
  | 'rounding'

export type MoneyEntry = {
  readonly account: MoneyAccount
  /** ISO 4217 code in upper case. */
  readonly currency: string
  /** Amount in minor units, never 0. What we have or are owed is positive. */
  readonly amountMinor: bigint
}

export type CreditKind =
  | 'grant'
  | 'top_up'
  | 'usage'
  | 'write_off'
  | 'adjustment'
  | 'expiry'
  /** For money that was refunded or disputed, and for such money that was returned. */
  | 'take_back'
  | 'give_back'

export const moneyKinds = [
  'invoice_issued',
  'invoice_carried',
  'invoice_voided',
  'invoice_written_off',
  'invoice_paid_outside',
  'usage_written_off',
  'carried_written_off',
  'credit_note',
  'payment_succeeded',
  'payment_settled',
  'refund_pending',
  'refund_succeeded',
  'refund_settled',
  'refund_failed',
  'refund_from_balance',
  'given_up_from_balance',
  'balance_paid_out',
  'dispute_from_balance',
  'dispute_withdrawn',
  'dispute_reinstated',
  'payout_paid',
  'payout_failed',
] as const
export type MoneyKind = (typeof moneyKinds)[number]

export type LedgerTransaction = {
  readonly reference: string
  readonly kind: CreditKind | MoneyKind
  /** Key that is unique for the provider. A second posting with the same key is a repetition of the first. */
  readonly key: string
  /** Hash of the input, which distinguishes a repetition from another use of the key. */
  readonly inputSha256: string
  /** The customer of the transaction; null for a payout. */
  readonly customerRef: string | null
  /** The invoice that the transaction is about. */
  readonly invoiceRef?: string
  readonly reason: string | null
  /** Response to the caller, returned again to every repetition of the call. */
  readonly result: JsonObject
  readonly createdAt: Date
  readonly entries: readonly LedgerEntry[]
}

export type PostedTransaction = Pick<LedgerTransaction, 'inputSha256' | 'result'> & {
  readonly invoiceRef: string | null
}

/** Inserts a transaction. Breaks a unique constraint if the key was used. The transaction fails if the entries do not sum to 0. */
export async function insertTransaction(
  sql: Queryable,
  providerId: string,
  transaction: LedgerTransaction,
): Promise<void> {
  await insertWithEntries(sql, providerId, transaction, sql``)
}

/**
 * Inserts a transaction unless the key was used, then it changes nothing and returns false. If two callers insert the same key at
 * once, the second waits for the first.
 */
export function insertTransactionOnce(
  sql: Queryable,
  providerId: string,
  transaction: LedgerTransaction,
): Promise<boolean> {
  const orNothing = sql`on conflict (provider_id, transaction_key) do nothing`
  return insertWithEntries(sql, providerId, transaction, orNothing)
}

async function insertWithEntries(
  sql: Queryable,
  providerId: string,
  { entries, ...transaction }: LedgerTransaction,
  onConflict: Fragment,
): Promise<boolean> {
  const { reference, kind, key, inputSha256, customerRef, invoiceRef = null } = transaction
  const { reason, result, createdAt } = transaction
  const amounts = entries.map(amountOf)
  const inserted = await sql`
    with posted as (
      insert into ledger_transactions
        (provider_id, reference, kind, transaction_key, input_sha256, customer_ref, invoice_ref,
         reason, result, created_at)
      values (${providerId}, ${reference}, ${kind}, ${key}, ${inputSha256}, ${customerRef},
        ${invoiceRef}, ${reason}, ${jsonb(sql, result)}, ${createdAt})
      ${onConflict}
      returning provider_id, reference, customer_ref),
    lines as (
      insert into ledger_entries
        (provider_id, transaction_ref, line, account, customer_ref, unit, amount)
      select provider_id, reference, line - 1, account, customer_ref, unit, amount
      from posted, unnest(${entries.map(({ account }) => account)}::text[],
        ${amounts.map(({ unit }) => unit)}::text[], ${amounts.map(({ amount }) => amount)}::numeric[])
        with ordinality as entry (account, unit, amount, line))
    select from posted`
  return inserted.length > 0
}

function amountOf(entry: LedgerEntry): { unit: string; amount: string } {
  return 'currency' in entry
    ? { unit: entry.currency, amount: entry.amountMinor.toString() }
    : { unit: 'credits', amount: entry.amountMicros.toString() }
}

export async function findPostedTransaction(
  sql: Queryable,
  providerId: string,
  key: string,
): Promise<PostedTransaction | undefined> {
  const [row] = await sql<
    { input_sha256: string; invoice_ref: string | null; result: JsonObject }[]
  >`
    select input_sha256, invoice_ref, result from ledger_transactions
    where provider_id = ${providerId} and transaction_key = ${key}`
  if (row === undefined) return undefined
  return { inputSha256: row.input_sha256, invoiceRef: row.invoice_ref, result: row.result }
}

/** Returns the reference of the transaction with that key. */
export async function findTransactionRef(
  sql: Queryable,
  providerId: string,
  key: string,
): Promise<string | undefined> {
  const [row] = await sql<{ reference: string }[]>`
    select reference from ledger_transactions
    where provider_id = ${providerId} and transaction_key = ${key}`
  return row?.reference
}

/**
 * Returns the id of the provider's last transaction, 0 if there is none. Under the lock of a wallet it separates the transactions of
 * the wallet so far from all later ones.
 */
export async function readLastTransactionId(sql: Queryable, providerId: string): Promise<bigint> {
  const [row] = await sql<{ id: bigint }[]>`
    select coalesce(max(id), 0) as id from ledger_transactions where provider_id = ${providerId}`
  return row!.id
}

/** Returns the amount that the transaction with that key posted to an account; 0 if there is none. Minor units. */
export async function findPostedAmount(
  sql: Queryable,
  providerId: string,
  key: string,
  account: MoneyAccount,
): Promise<bigint> {
  return sumPosted(sql, providerId, account, sql`posted.transaction_key = ${key}`)
}

/** Postings that take from a customer's balance what would otherwise be returned twice of one invoice. */
const takingKinds = [
  'refund_from_balance',
  'dispute_from_balance',
  'given_up_from_balance',
] as const satisfies readonly MoneyKind[]

/** Returns what was taken from the customer's balance and not given back, because it was returned of the invoice again. Minor units. */
export function sumTakenFromBalance(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<bigint> {
  const isTaken = sql`posted.invoice_ref = ${invoiceRef} and posted.kind in ${sql(takingKinds)}`
  return sumPosted(sql, providerId, 'carried', isTaken)
}

/** Returns which of the invoices have transactions that took something from the customer's balance or gave it back. */
export async function listTakenFromBalance(
  sql: Queryable,
  providerId: string,
  invoiceRefs: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ invoice_ref: string }[]>`
    select distinct invoice_ref from ledger_transactions
    where provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
      and kind in ${sql(takingKinds)}`
  return new Set(rows.map((row) => row.invoice_ref))
}

/**
 * Returns the sum and the number of the transactions that took the credit of a bill that was given up, and the tax in the sum. Minor units.
 */
export async function sumTakenOfGivenUp(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<{ readonly amountMinor: bigint; readonly taxMinor: bigint; readonly times: number }> {
  const [row] = await sql<{ amount: string; tax: string; times: number }[]>`
    select coalesce(sum(entry.amount) filter (where entry.account = 'carried'), 0)::text as amount,
      coalesce(-sum(entry.amount) filter (where entry.account = 'tax'), 0)::text as tax,
      count(distinct posted.reference)::int as times
    from ledger_transactions as posted join ledger_entries as entry
      on entry.provider_id = posted.provider_id and entry.transaction_ref = posted.reference
    where posted.provider_id = ${providerId} and posted.invoice_ref = ${invoiceRef}
      and posted.kind = 'given_up_from_balance'`
  return { amountMinor: BigInt(row!.amount), taxMinor: BigInt(row!.tax), times: row!.times }
}

async function sumPosted(
  sql: Queryable,
  providerId: string,
  account: MoneyAccount,
  isSummed: Fragment,
): Promise<bigint> {
  const [row] = await sql<{ amount: string }[]>`
    select coalesce(sum(entry.amount), 0)::text as amount
    from ledger_transactions as posted join ledger_entries as entry
      on entry.provider_id = posted.provider_id and entry.transaction_ref = posted.reference
    where posted.provider_id = ${providerId} and ${isSummed} and entry.account = ${account}`
  return BigInt(row!.amount)
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

/**
 * Returns wallets whose stored balance differs from the sum of their entries or of their remaining grants. Normally there are none.
 */
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
