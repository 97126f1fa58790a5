import type { Queryable } from '@tollgate/platform/database/database'

/** Purchases whose usage is billed and whose renewal, which comes behind it, was left by a process that died in between. */
export async function readLeftRenewals(sql: Queryable): Promise<ReadonlySet<string>> {
  const rows = await sql<{ reference: string }[]>`
    select reference from purchases
    where status = 'active' and auto_renew and next_billing_date < next_usage_bill_at`
  return new Set(rows.map(({ reference }) => reference))
}
