import type { Queryable } from '@tollgate/platform/database/database'

/** Returns the credit of a customer that no open payment holds, in minor units. Negative for an amount that the next invoice adds. */
export async function readCredit(
  sql: Queryable,
  customerRef: string,
  currency: string,
): Promise<bigint> {
  const [carried] = await sql<{ credit: string }[]>`
    select -(amount + held) as credit from carried_amounts
    where customer_ref = ${customerRef} and currency = ${currency}`
  return BigInt(carried?.credit ?? 0)
}
