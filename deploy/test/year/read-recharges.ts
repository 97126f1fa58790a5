import type { Queryable } from '@tollgate/platform/database/database'

/** An automatic top-up payment. */
export type RechargeAttempt = {
  readonly status: string
  readonly processorPaymentId: string | null
  readonly purchaseRef: string | null
  readonly at: number
}

/** Returns the payments by customer, oldest first. */
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
