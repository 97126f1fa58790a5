import type { Queryable } from '@tollgate/platform/database/database'

/** What is known of the card that a customer paid with last. */
export type Card = {
  readonly brand: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
  /** Whether it may be charged again without its holder. */
  readonly reusable: boolean
}

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
    select * from customer_cards
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  if (row === undefined) return undefined
  const { brand, last4, reusable } = row
  return { brand, last4, expMonth: row.exp_month, expYear: row.exp_year, reusable }
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
