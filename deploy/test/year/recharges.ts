import type { Queryable } from '@tollgate/platform/database/database'
import type { Person } from './person.ts'

/** A payment that was made for a wallet that had run low. */
export type RechargeAttempt = {
  readonly status: string
  readonly processorPaymentId: string | null
  readonly purchaseRef: string | null
  readonly at: number
}

/** All of them, the oldest first, by customer. */
export async function readRecharges(
  sql: Queryable,
): Promise<ReadonlyMap<string, readonly RechargeAttempt[]>> {
  const rows = await sql<
    {
      customer: string
      status: string
      processorPaymentId: string | null
      purchaseRef: string | null
      createdAt: Date
    }[]
  >`
    select customer_ref as customer, status, processor_payment_id as "processorPaymentId",
      purchase_ref as "purchaseRef", created_at as "createdAt"
    from payment_intents where idempotency_key like 'auto-recharge:%' order by created_at`
  const attempts = new Map<string, RechargeAttempt[]>()
  for (const { customer, createdAt, ...attempt } of rows) {
    const made = attempts.get(customer) ?? []
    made.push({ ...attempt, at: createdAt.getTime() })
    attempts.set(customer, made)
  }
  return attempts
}

/** What was spent in the month, and whether the card was given up. */
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
