import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** The card that the customer used last. */
export type Card = {
  readonly brand: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
  /** Whether the card may be charged without the customer being present. */
  readonly reusable: boolean
}

/** A card with its payment method at the processor. */
export type CardWithMethod = Card & { readonly paymentMethodId: string }

type CardRow = {
  brand: string
  last4: string
  exp_month: number
  exp_year: number
  reusable: boolean
}

export async function findCard(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Card | undefined> {
  const [row] = await sql<CardRow[]>`
    select brand, last4, exp_month, exp_year, reusable and not ${isDisputed(sql)} as reusable
    from customer_cards
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  return row === undefined ? undefined : fromRow(row)
}

/** Stores the card. A reusable card is only replaced by another reusable card. */
export async function storeCard(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  { paymentMethodId, ...card }: CardWithMethod,
  now: Date,
): Promise<void> {
  const { brand, last4, expMonth, expYear, reusable } = card
  await sql`
    insert into customer_cards
      (provider_id, customer_ref, brand, last4, exp_month, exp_year, reusable, payment_method_id,
       updated_at)
    values (${providerId}, ${customerRef}, ${brand}, ${last4}, ${expMonth}, ${expYear}, ${reusable},
      ${paymentMethodId}, ${now})
    on conflict (provider_id, customer_ref) do update set brand = excluded.brand,
      last4 = excluded.last4, exp_month = excluded.exp_month, exp_year = excluded.exp_year,
      reusable = excluded.reusable, payment_method_id = excluded.payment_method_id,
      updated_at = excluded.updated_at
    where excluded.reusable or not customer_cards.reusable`
}

/** Returns the customer's stored card if it belongs to this payment method. */
export async function findCardOfMethod(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  paymentMethodId: string,
): Promise<CardWithMethod | undefined> {
  const [row] = await sql<CardRow[]>`
    select brand, last4, exp_month, exp_year, reusable from customer_cards
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and payment_method_id = ${paymentMethodId}`
  return row === undefined ? undefined : { ...fromRow(row), paymentMethodId }
}

/**
 * Whether a payment with the card was taken back by the customer's bank. Such a card is no longer charged without the
 * customer being present.
 */
function isDisputed(sql: Queryable): Fragment {
  return sql`exists (
    select from payment_disputes as dispute
    where dispute.provider_id = customer_cards.provider_id
      and dispute.payment_method_id = customer_cards.payment_method_id and dispute.takes_access)`
}

/** Returns the payment method that may be charged without the customer being present. */
export async function findReusablePaymentMethod(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<string | undefined> {
  const [row] = await sql<{ payment_method_id: string }[]>`
    select payment_method_id from customer_cards
    where provider_id = ${providerId} and customer_ref = ${customerRef} and reusable
      and payment_method_id is not null and not ${isDisputed(sql)}`
  return row?.payment_method_id
}

export async function removeCard(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from customer_cards
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

function fromRow({ brand, last4, exp_month, exp_year, reusable }: CardRow): Card {
  return { brand, last4, expMonth: exp_month, expYear: exp_year, reusable }
}
