import type { Queryable } from '@tollgate/platform/database/database'
import { digestOf } from './hosted-pages.ts'

/**
 * Returns the time of the customer on a hosted page, if the customer has a test clock. `tokens` are those of the links and cookies
 * of the request.
 */
export async function findTimeOfPage(
  sql: Queryable,
  tokens: readonly string[],
): Promise<Date | undefined> {
  if (tokens.length === 0) return undefined
  const [row] = await sql<{ time_reached: Date }[]>`
    select clock.time_reached from (
      select provider_id, customer_ref from checkout_sessions where session_id = any(${[...tokens]})
      union all
      select provider_id, customer_ref from customer_sessions where session_id = any(${[...tokens]})
      union all
      select provider_id, customer_ref from customer_sessions
      where cookie_sha256 = any(${tokens.map(digestOf)})) as session
    join customers on customers.provider_id = session.provider_id
      and customers.reference = session.customer_ref
    join test_clocks as clock on clock.provider_id = customers.provider_id
      and clock.reference = customers.test_clock_ref
    limit 1`
  return row?.time_reached
}
