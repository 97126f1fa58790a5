import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import type { OverridesVersion } from './overrides.ts'

/** Selects all versions of the overrides of each row of `purchases`, oldest first. Null if there never were any. */
export function selectOverrides(sql: Queryable): Fragment {
  return sql`(
    select history from customer_overrides
    where customer_overrides.provider_id = purchases.provider_id
      and customer_overrides.customer_ref = purchases.customer_ref
      and customer_overrides.product_ref = purchases.product_ref) as overrides`
}

/** Returns all versions of the overrides, oldest first. */
export async function findOverrides(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  productRef: string,
): Promise<OverridesVersion[]> {
  const [row] = await sql<{ history: OverridesVersion[] }[]>`
    select history from customer_overrides
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef}`
  return row?.history ?? []
}

/** Stores all versions, of which the last one is current. The caller has locked the customer. */
export async function saveOverrides(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: { readonly customerRef: string; readonly productRef: string },
  history: readonly [OverridesVersion, ...OverridesVersion[]],
  now: Date,
): Promise<void> {
  const { charges, usageLimits, prices = [] } = history.at(-1)!
  await sql`
    insert into customer_overrides
      (provider_id, customer_ref, product_ref, charges, usage_limits, prices, history, updated_at)
    values (${providerId}, ${customerRef}, ${productRef}, ${jsonb(sql, charges)},
      ${jsonb(sql, usageLimits)}, ${jsonb(sql, prices)}, ${jsonb(sql, history)}, ${now})
    on conflict (provider_id, customer_ref, product_ref) do update
      set charges = excluded.charges, usage_limits = excluded.usage_limits,
        prices = excluded.prices, history = excluded.history, updated_at = excluded.updated_at`
}
