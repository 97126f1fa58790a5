import type { Database } from '@tollgate/platform/database/database'
import { jobActor } from '../src/audit/actor.ts'
import type { UnitOfWork } from '../src/unit-of-work/unit-of-work.ts'
import { runUnitOfWork } from '../src/unit-of-work/run-unit-of-work.ts'

/* Creates customers with purchases in the database of a test. */

export const billedAt = new Date('2026-07-01T00:00:00Z')

/** Runs the body in a unit of work of the provider in sandbox. */
export async function inWork<Result>(
  database: Database,
  providerId: string,
  body: (work: UnitOfWork) => Promise<Result>,
  now = billedAt,
): Promise<Result> {
  const actor = jobActor('test')
  const operation = { providerId, environment: 'sandbox', now, actor } as const
  const { result } = await runUnitOfWork(
    database,
    { ...operation, requestId: null, idempotencyKey: null },
    body,
  )
  return result
}

export type BilledCustomer = { readonly customerRef: string; readonly purchaseRef: string }

let made = 0

/** Creates customers with one purchase each. */
export async function createPurchases(
  database: Database,
  providerId: string,
  count: number,
): Promise<BilledCustomer[]> {
  const sql = database.in('sandbox')
  const now = billedAt
  const productRef = `prd_${made}`
  const created = Array.from({ length: count }, () => {
    made += 1
    return { customerRef: `cus_${made}`, purchaseRef: `pur_${made}` }
  })
  await sql`
    insert into products (provider_id, reference, name, status, created_at, updated_at)
    values (${providerId}, ${productRef}, 'API', 'active', ${now}, ${now})`
  await sql`
    insert into customers ${sql(
      created.map(({ customerRef }) => ({
        provider_id: providerId,
        reference: customerRef,
        email: `${customerRef}@example.com`,
        status: 'active',
        created_at: now,
        updated_at: now,
      })),
    )}`
  await sql`
    insert into purchases ${sql(
      created.map(({ customerRef, purchaseRef }) => ({
        provider_id: providerId,
        reference: purchaseRef,
        customer_ref: customerRef,
        product_ref: productRef,
        status: 'active',
        origin: 'paid',
        amount: 0,
        currency: 'USD',
        anchor: now,
        cycle_mode: 'calendar',
        billing_cycle: 'monthly',
        is_recurring: true,
        auto_renew: true,
        start_date: now,
        created_at: now,
        updated_at: now,
      })),
    )}`
  return created
}
