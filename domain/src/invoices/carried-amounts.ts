import type { Queryable } from '@tollgate/platform/database/database'

/** The customer and the currency of a carried amount. */
export type CarriedAmountKey = { readonly customerRef: string; readonly currency: string }

/**
 * Takes the amount that is carried over to the customer's next invoice, and resets it to 0. Returns minor units; a
 * negative amount is a credit.
 */
export async function consumeCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
  now: Date,
): Promise<bigint> {
  const amountMinor = await lockCarried(sql, providerId, { customerRef, currency })
  await addCarried(sql, providerId, { customerRef, currency }, -amountMinor, now)
  return amountMinor
}

/** Returns the carried amount and locks it, so that the amount that is read is the amount that the caller changes. */
export async function lockCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
): Promise<bigint> {
  const [row] = await sql<{ amount: string }[]>`
    select amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}
      and amount <> 0
    for update`
  return BigInt(row?.amount ?? 0)
}

export async function addCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
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
  { customerRef, currency }: CarriedAmountKey,
): Promise<bigint> {
  const [row] = await sql<{ amount: string }[]>`
    select amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}`
  return BigInt(row?.amount ?? 0)
}

/**
 * Returns the amounts that are carried over to the customer's next invoices, keyed by currency. Minor units; a negative
 * amount is a credit. Currencies with 0 are absent.
 */
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
