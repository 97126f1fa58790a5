import type { Queryable } from '@tollgate/platform/database/database'
import type { PublicationTarget } from '../publications/repository.ts'
import { listCustomersOfClock } from './repository.ts'

/** Queues the publication of all customers of a clock, within the transaction that changes their time. */
export async function queueCustomersOfClock(
  sql: Queryable,
  { providerId, reference }: { readonly providerId: string; readonly reference: string },
): Promise<PublicationTarget[]> {
  const customers = await listCustomersOfClock(sql, providerId, reference)
  await sql`
    insert into publications (provider_id, kind, target)
    select ${providerId}, 'customer', target from unnest(${customers}::text[]) as target`
  return customers.map((target) => ({ kind: 'customer' as const, providerId, target }))
}
