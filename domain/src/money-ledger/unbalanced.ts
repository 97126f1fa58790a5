import type { Queryable } from '@tollgate/platform/database/database'

/* Differences between the ledger and other records of the same money. Normally there are none. Amounts are minor units. */

export type UnbalancedInvoice = {
  readonly providerId: string
  readonly invoiceRef: string
  readonly currency: string
  /** Amounts due and written off, by the invoice. */
  readonly dueMinor: bigint
  readonly writtenOffMinor: bigint
  /** The same amounts by the ledger entries. */
  readonly receivableMinor: bigint
  readonly entriesWrittenOffMinor: bigint
}

/** Returns issued invoices for which the ledger has another amount due or written off. */
export async function listUnbalancedInvoices(
  sql: Queryable,
  rowsMax: number,
): Promise<UnbalancedInvoice[]> {
  const rows = await sql<
    {
      provider_id: string
      invoice_ref: string
      currency: string
      due: string
      written_off: string
      receivable: string
      entries_written_off: string
    }[]
  >`
    select provider_id, invoice_ref, currency, due, written_off, receivable, entries_written_off
    from (
      select provider_id, reference as invoice_ref, currency,
        case when status in ('void', 'uncollectible') then 0 else unpaid end as due,
        case when status = 'uncollectible' then unpaid else 0 end as written_off
      from (select *, total - carried - paid - credited as unpaid from invoices) as counted
    ) as kept
    join (
      select provider_id, invoice_ref,
        coalesce(sum(amount) filter (where account = 'receivable'), 0) as receivable,
        coalesce(sum(amount) filter (where account = 'written_off'), 0) as entries_written_off
      from ledger_transactions
      join ledger_entries using (provider_id)
      where invoice_ref is not null and transaction_ref = reference
      group by provider_id, invoice_ref
      -- The ledger does not have all postings of an invoice that was issued before postings contained its reference.
      having bool_or(kind = 'invoice_issued')
    ) as entries using (provider_id, invoice_ref)
    where due <> receivable or written_off <> entries_written_off
    limit ${rowsMax}`
  return rows.map((row) => ({
    providerId: row.provider_id,
    invoiceRef: row.invoice_ref,
    currency: row.currency,
    dueMinor: BigInt(row.due),
    writtenOffMinor: BigInt(row.written_off),
    receivableMinor: BigInt(row.receivable),
    entriesWrittenOffMinor: BigInt(row.entries_written_off),
  }))
}

export type UnbalancedCreditValue = {
  readonly providerId: string
  readonly customerRef: string
  readonly currency: string
  /** Paid value of the remaining grants of the customer. */
  readonly grantsMinor: bigint
  /** Amount owed for credits, by the ledger entries. */
  readonly prepaidMinor: bigint
}

/**
 * Returns wallets for which the owed amount differs from the value of the remaining credits, see
 * `domain/src/wallet/credit-value.ts`.
 */
export async function listUnbalancedCreditValues(
  sql: Queryable,
  rowsMax: number,
): Promise<UnbalancedCreditValue[]> {
  const rows = await sql<
    {
      provider_id: string
      customer_ref: string
      currency: string
      grants: string
      prepaid: string
    }[]
  >`
    select provider_id, customer_ref, currency, coalesce(left_of.value, 0) as grants,
      coalesce(owed.prepaid, 0) as prepaid
    from (
      select provider_id, customer_ref, paid_currency as currency, sum(paid - div(
        2 * paid * (granted_micros - remaining_micros) + granted_micros, 2 * granted_micros
      )) as value
      from credit_grants where paid is not null group by 1, 2, 3
    ) as left_of
    full join (
      select provider_id, customer_ref, unit as currency, -sum(amount) as prepaid
      from ledger_entries where account = 'prepaid' group by 1, 2, 3
    ) as owed using (provider_id, customer_ref, currency)
    where coalesce(left_of.value, 0) <> coalesce(owed.prepaid, 0)
    limit ${rowsMax}`
  return rows.map((row) => ({
    providerId: row.provider_id,
    customerRef: row.customer_ref,
    currency: row.currency,
    grantsMinor: BigInt(row.grants),
    prepaidMinor: BigInt(row.prepaid),
  }))
}

export type UnbalancedTransaction = {
  readonly providerId: string
  readonly reference: string
  readonly unit: string
  readonly sum: string
}

/** Returns transactions whose entries do not sum to 0. A database constraint should have refused them. */
export async function listUnbalancedTransactions(
  sql: Queryable,
  rowsMax: number,
): Promise<UnbalancedTransaction[]> {
  const rows = await sql<
    { provider_id: string; transaction_ref: string; unit: string; sum: string }[]
  >`
    select provider_id, transaction_ref, unit, sum(amount)::text as sum from ledger_entries
    group by 1, 2, 3 having sum(amount) <> 0 limit ${rowsMax}`
  return rows.map((row) => {
    const { provider_id: providerId, transaction_ref: reference, unit, sum } = row
    return { providerId, reference, unit, sum }
  })
}
