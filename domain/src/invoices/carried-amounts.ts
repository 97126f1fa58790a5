import type { Queryable } from '@tollgate/platform/database/database'

/** The customer and the currency of a carried amount. */
export type CarriedAmountKey = { readonly customerRef: string; readonly currency: string }

/*
 * A payment that is open holds its part of the credit until it has ended. What other uses may take is `amount + held`, so every
 * function that does not say otherwise counts without what is held. Amounts are minor units, and a credit is negative.
 */

/** Takes the amount that is carried over to the customer's next invoice, and resets it to 0. */
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
    select amount + held as amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}
      and amount + held <> 0
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
    select amount + held as amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}`
  return BigInt(row?.amount ?? 0)
}

/** Returns the carried amount with the credit that open payments hold. */
export async function readCarriedAndHeld(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
): Promise<bigint> {
  const [row] = await sql<{ amount: string }[]>`
    select amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}`
  return BigInt(row?.amount ?? 0)
}

/** Holds a part of the customer's credit for a payment. A negative amount releases it. The caller has locked the carried amount. */
export async function holdCarried(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
  heldMinor: bigint,
  now: Date,
): Promise<void> {
  if (heldMinor === 0n) return
  await sql`
    update carried_amounts set held = held + ${heldMinor.toString()}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}`
}

/** Takes a part of the customer's credit that a payment holds, for the invoice that the payment pays. */
export async function takeHeld(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
  takenMinor: bigint,
  now: Date,
): Promise<void> {
  if (takenMinor === 0n) return
  const taken = takenMinor.toString()
  await sql`
    update carried_amounts set amount = amount + ${taken}, held = held - ${taken}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}`
}

/** Returns the amounts that are carried over to the customer's next invoices, keyed by currency. Currencies with 0 are absent. */
export async function listCarried(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ currency: string; amount: string }[]>`
    select currency, amount + held as amount from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and amount + held <> 0
    order by currency`
  return new Map(rows.map(({ currency, amount }) => [currency, BigInt(amount)]))
}

/** A customer's balance in one currency. Minor units, and a credit is positive. */
export type Balance = {
  readonly currency: string
  readonly amountMinor: bigint
  /** The part of the credit that open payments hold. */
  readonly heldMinor: bigint
}

/** Returns the customer's balances with what open payments hold of them. */
export async function listBalances(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Balance[]> {
  const rows = await sql<{ currency: string; amount: string; held: string }[]>`
    select currency, -amount as amount, held from carried_amounts
    where provider_id = ${providerId} and customer_ref = ${customerRef} and (amount <> 0 or held <> 0)
    order by currency`
  return rows.map(({ currency, amount, held }) => ({
    currency,
    amountMinor: BigInt(amount),
    heldMinor: BigInt(held),
  }))
}
