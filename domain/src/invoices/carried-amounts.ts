import type { Queryable } from '@tollgate/platform/database/database'

/** Whose, and in which currency. */
export type CarriedName = { readonly customerRef: string; readonly currency: string }

/** Takes all that waits for the customer's next invoice: owed, or a credit where negative. Minor units. */
export async function takeCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedName,
  now: Date,
): Promise<bigint> {
  // The lock comes first: what is found then is what is taken.
  const [row] = await sql<{ amount: string }[]>`
    select amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}
      and amount <> 0
    for update`
  if (row === undefined) return 0n
  const amountMinor = BigInt(row.amount)
  await addCarried(sql, providerId, { customerRef, currency }, -amountMinor, now)
  return amountMinor
}

export async function addCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedName,
  amountMinor: bigint,
  now: Date,
): Promise<void> {
  if (amountMinor === 0n) return
  await sql`
    insert into carried_amounts (provider_id, customer_ref, currency, amount, updated_at)
    values (${providerId}, ${customerRef}, ${currency}, ${amountMinor.toString()}, ${now})
    on conflict (provider_id, customer_ref, currency) do update
    set amount = carried_amounts.amount + excluded.amount, updated_at = excluded.updated_at`
}

export async function readCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedName,
): Promise<bigint> {
  const [row] = await sql<{ amount: string }[]>`
    select amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}`
  return BigInt(row?.amount ?? 0)
}

/** All that waits for the customer's next invoices, by currency: owed, or a credit where negative. Minor units. */
export async function listCarried(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ currency: string; amount: string }[]>`
    select currency, amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and amount <> 0
    order by currency`
  return new Map(rows.map(({ currency, amount }) => [currency, BigInt(amount)]))
}
