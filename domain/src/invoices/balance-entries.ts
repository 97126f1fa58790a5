import type { Queryable } from '@tollgate/platform/database/database'
import type { CarriedAmountKey } from './carried-amounts.ts'
import type { MoneyKind } from '../money-ledger/ledger.ts'
import { selectPage, type PageRange } from '../postgres/select-page.ts'

/** A change of a customer's balance in one currency. */
export type BalanceEntry = {
  /** Reference of the ledger transaction. */
  readonly reference: string
  readonly kind: MoneyKind
  readonly currency: string
  /** Minor units. Positive if the customer's credit has grown. */
  readonly amountMinor: bigint
  /** The invoice that the change is about; null if it is about none. */
  readonly invoiceRef: string | null
  readonly createdAt: Date
}

type EntryRow = {
  reference: string
  kind: MoneyKind
  currency: string
  amount: string
  invoice_ref: string | null
  created_at: Date
}

/**
 * Returns how much of the customer's balance was paid out since then, less what came back because a refund failed. Minor units of the
 * currency.
 */
export async function sumPaidOut(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
  since: Date,
): Promise<bigint> {
  const [row] = await sql<{ paid_out: string }[]>`
    select coalesce(sum(entry.amount), 0)::text as paid_out
    from ledger_entries as entry join ledger_transactions as posted
      on posted.provider_id = entry.provider_id and posted.reference = entry.transaction_ref
    where entry.provider_id = ${providerId} and entry.customer_ref = ${customerRef}
      and entry.account = 'carried' and entry.unit = ${currency}
      and posted.kind = 'balance_paid_out' and posted.created_at >= ${since}`
  return BigInt(row!.paid_out)
}

/**
 * Returns a page of the changes of a customer's balances, newest first. They are the ledger's entries of what is carried over to the
 * customer's next invoices, so the entries of a currency add up to its balance.
 */
export async function listBalanceEntries(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  page: PageRange,
): Promise<{ readonly entries: BalanceEntry[]; readonly total: number }> {
  const matching = sql`
    from (
      select posted.reference, posted.kind, entry.unit as currency, -entry.amount as amount,
        posted.invoice_ref, posted.created_at
      from ledger_entries as entry join ledger_transactions as posted
        on posted.provider_id = entry.provider_id and posted.reference = entry.transaction_ref
      where entry.provider_id = ${providerId} and entry.customer_ref = ${customerRef}
        and entry.account = 'carried'
    ) as entries`
  const order = sql`created_at desc, reference desc`
  const { rows, total } = await selectPage<EntryRow>(sql, matching, order, page)
  const entries = rows.map((row) => ({
    reference: row.reference,
    kind: row.kind,
    currency: row.currency,
    amountMinor: BigInt(row.amount),
    invoiceRef: row.invoice_ref,
    createdAt: row.created_at,
  }))
  return { entries, total }
}
