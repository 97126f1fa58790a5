import type { Queryable } from '@tollgate/platform/database/database'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'
import { toEntitling, type EntitlingPurchase, type EntitlingRow } from './purchase-rows.ts'
import { decidingFirst } from './repository.ts'

/** Returns the deciding purchase for each product of which the customer ever held a plan, keyed by the customer's reference. */
export async function listDecidingPurchases(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, EntitlingPurchase[]>> {
  const rows = await sql<EntitlingRow[]>`
    select distinct on (provider_id, customer_ref, product_ref)
      reference, customer_ref, product_ref, plan_snapshot, status, anchor, cycle_mode, start_date,
      end_date, ended_at, updated_at, suspended_at, access_restored_at, carried_into,
      carried_over_micros, allowance_window, allowance_since, allowance_until,
      windows_taken_in, first_included_micros
    from purchases
    where (provider_id, customer_ref) in (${selectKeys(sql, customers)}) and plan_ref is not null
    order by provider_id, customer_ref, product_ref, ${decidingFirst(sql)}`
  const found = new Map<string, EntitlingPurchase[]>()
  for (const row of rows) {
    const others = found.get(row.customer_ref)
    if (others === undefined) found.set(row.customer_ref, [toEntitling(row)])
    else others.push(toEntitling(row))
  }
  return found
}
