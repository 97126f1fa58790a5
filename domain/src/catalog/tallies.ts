import type { Queryable } from '@tollgate/platform/database/database'

/** Earnings of a product so far in US cents, and the number of its successful payments. */
export type ProductTally = {
  readonly balanceMinor: number
  readonly totalTransactions: number
}

export const emptyTally: ProductTally = { balanceMinor: 0, totalTransactions: 0 }

/**
 * Returns the tallies keyed by product, including payments that are not folded yet. Products without payments are
 * absent.
 */
export async function listProductTallies(
  sql: Queryable,
  providerId: string,
  productRefs: readonly string[],
): Promise<ReadonlyMap<string, ProductTally>> {
  const references = [...productRefs]
  // A single statement sees a movement either in `product_movements` or in the tally, never in both.
  const rows = await sql<{ product_ref: string; balance: string; payments: string }[]>`
    select product_ref, sum(balance)::text as balance, sum(payments)::text as payments
    from (
      select product_ref, balance, payments from product_tallies
      where provider_id = ${providerId} and product_ref = any(${references})
      union all
      select product_ref, amount, payments from product_movements
      where provider_id = ${providerId} and product_ref = any(${references})
    ) as counted
    group by product_ref`
  return new Map(
    rows.map(({ product_ref: productRef, balance, payments }) => [
      productRef,
      { balanceMinor: Number(balance), totalTransactions: Number(payments) },
    ]),
  )
}

/**
 * Adds the oldest movements to the tallies of their products and deletes them, in one statement, so each movement is
 * counted once even after a crash. Returns the number of folded movements. Several processes may do this at once: each
 * one takes different movements.
 */
export async function foldProductMovements(sql: Queryable, rowsMax: number): Promise<number> {
  const [row] = await sql<[{ folded: number }]>`
    with taken as (
      select id from product_movements order by id limit ${rowsMax} for update skip locked
    ), folded as (
      delete from product_movements using taken where product_movements.id = taken.id
      returning provider_id, product_ref, amount, payments
    ), added as (
      -- In one order: whoever folds others at the same time may have the same products.
      insert into product_tallies (provider_id, product_ref, balance, payments)
      select provider_id, product_ref, sum(amount), sum(payments) from folded
      group by provider_id, product_ref order by provider_id, product_ref
      on conflict (provider_id, product_ref) do update
      set balance = product_tallies.balance + excluded.balance,
        payments = product_tallies.payments + excluded.payments
    )
    select count(*)::int as folded from folded`
  return row.folded
}
