import type { TransactionSql } from 'postgres'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'

/** Returns the offset of the partition from which debits are to be posted, and locks it. */
export async function readDebitPosition(sql: TransactionSql, partition: number): Promise<number> {
  await sql`
    insert into debit_positions (log_partition, next_offset) values (${partition}, 0)
    on conflict do nothing`
  const [row] = await sql<{ next_offset: bigint }[]>`
    select next_offset from debit_positions where log_partition = ${partition} for update`
  return Number(row!.next_offset)
}

export async function moveDebitPosition(
  sql: TransactionSql,
  partition: number,
  nextOffset: number,
): Promise<void> {
  await sql`
    update debit_positions set next_offset = ${nextOffset}
    where log_partition = ${partition}`
}

/**
 * Returns which of the customers exist, by `customerKeyText`. The rows are locked like the foreign keys of the postings lock them, so
 * customers are always locked before their wallets.
 */
export async function lockKnownCustomers(
  sql: TransactionSql,
  customers: readonly CustomerKey[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ provider_id: string; reference: string }[]>`
    select provider_id, reference from customers
    where (provider_id, reference) in (${selectKeys(sql, customers)})
    order by provider_id, reference for key share`
  return new Set(
    rows.map((row) => customerKeyText({ providerId: row.provider_id, customerRef: row.reference })),
  )
}

export function customerKeyText({ providerId, customerRef }: CustomerKey): string {
  return JSON.stringify([providerId, customerRef])
}
