import type { Queryable } from '@tollgate/platform/database/database'
import type { TestClock } from '../test-clocks/test-clock.ts'
import { digestOf } from './hosted-pages.ts'

/**
 * Returns the test clock of the customer on a hosted page, if the customer has one. `tokens` are those of the links and cookies of the
 * request, and references of payments.
 */
export async function findClockOfPage(
  sql: Queryable,
  tokens: readonly string[],
): Promise<Pick<TestClock, 'status' | 'timeReached'> | undefined> {
  if (tokens.length === 0) return undefined
  const [row] = await sql<Pick<TestClock, 'status' | 'timeReached'>[]>`
    select clock.status, clock.time_reached as "timeReached" from (
      select provider_id, customer_ref from checkout_sessions where session_id = any(${[...tokens]})
      union all
      select provider_id, customer_ref from customer_sessions where session_id = any(${[...tokens]})
      union all
      select provider_id, customer_ref from payment_intents where reference = any(${[...tokens]})
      union all
      select provider_id, customer_ref from customer_sessions
      where cookie_sha256 = any(${tokens.map(digestOf)})) as session
    join customers on customers.provider_id = session.provider_id
      and customers.reference = session.customer_ref
    join test_clocks as clock on clock.provider_id = customers.provider_id
      and clock.reference = customers.test_clock_ref
    limit 1`
  return row
}
