import type { Queryable } from '@tollgate/platform/database/database'
import type { Person } from './person.ts'

/** Compares the monthly total, and whether the card is disabled. */
export async function compareRecharges(
  sql: Queryable,
  people: readonly Person[],
): Promise<string[]> {
  const rows = await sql<{ customer: string; said: string }[]>`
    select customer_ref as customer, concat_ws(' ', status, failure_count, monthly_spend_minor,
      monthly_spend_period, in_flight_payment_intent_id) as said
    from auto_recharges`
  const found = new Map(rows.map(({ customer, said }) => [customer, said]))
  return people.flatMap(({ reference, model: { recharge } }) => {
    const said = found.get(reference)
    const expected =
      recharge &&
      [recharge.status, recharge.failures, recharge.spent, recharge.month]
        .filter((each) => each !== null)
        .join(' ')
    return said === expected ? [] : [`${reference}: recharges ${said}, not ${expected}`]
  })
}
