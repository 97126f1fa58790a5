import type { Environment } from '@tollgate/schemas/environment'
import type { Tenant, TestStack } from './test-stack.ts'

const tables = [
  ...['products', 'plans', 'customers', 'customer_references', 'purchases', 'meters'],
  ...['outbox', 'publications', 'customer_sessions', 'checkout_sessions', 'auto_recharges'],
  ...['payment_intents', 'payment_attempts', 'processor_customers'],
  ...['add_ons', 'coupons', 'discounts', 'coupon_holds', 'discounted_periods'],
  ...['customer_tax_details', 'webhook_endpoints', 'webhook_secrets', 'webhook_deliveries'],
]

/** Returns all rows that a caller with the tenant's sandbox key must not change. */
export async function readForeignRows(
  { database }: TestStack,
  { providerId }: Tenant,
): Promise<unknown> {
  const rows: Record<string, unknown> = {}
  for (const environment of ['sandbox', 'live'] satisfies Environment[]) {
    const sql = database.in(environment)
    const isOwn = environment === 'sandbox'
    for (const table of tables) {
      const found = isOwn
        ? await sql`select * from ${sql(table)} where provider_id <> ${providerId}`
        : await sql`select * from ${sql(table)}`
      rows[`${environment} ${table}`] = found.map((row) => JSON.stringify(row, bigText)).sort()
    }
  }
  return rows
}

function bigText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
