import type { Fragment } from 'postgres'
import type { ProviderDatabases, Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'

/** Whether an environment has test clocks. Code of live data need not ask for them. */
export function hasTestClocks(environment: Environment): boolean {
  return environment === 'sandbox'
}

/**
 * Returns the time of a customer: that of the customer's clock, or `now` for a customer of real time. `customerRef` is the own
 * reference.
 */
export async function customerTime(
  sql: Queryable,
  environment: Environment,
  { providerId, customerRef }: { readonly providerId: string; readonly customerRef: string },
  now: Date,
): Promise<Date> {
  if (!hasTestClocks(environment)) return now
  const [row] = await sql<{ time_reached: Date }[]>`
    select clock.time_reached from customers
    join test_clocks as clock on clock.provider_id = customers.provider_id
      and clock.reference = customers.test_clock_ref
    where customers.provider_id = ${providerId} and customers.reference = ${customerRef}`
  return row?.time_reached ?? now
}

/** Like `customerTime`, for callers outside of a transaction. */
export function readCustomerTime(
  database: ProviderDatabases,
  environment: Environment,
  name: { readonly providerId: string; readonly customerRef: string },
  now: Date,
): Promise<Date> {
  if (!hasTestClocks(environment)) return Promise.resolve(now)
  const rows = database.of(name.providerId).in(environment)
  return rows.read((sql) => customerTime(sql, environment, name, now))
}

/** Returns the times of those among these customers who have a clock, by the customer's own reference. */
export async function listClockTimes(
  sql: Queryable,
  environment: Environment,
  customers: readonly { readonly providerId: string; readonly customerRef: string }[],
): Promise<Map<string, Date>> {
  if (!hasTestClocks(environment)) return new Map()
  const rows = await sql<{ reference: string; time_reached: Date }[]>`
    select customers.reference, clock.time_reached from customers
    join test_clocks as clock on clock.provider_id = customers.provider_id
      and clock.reference = customers.test_clock_ref
    where customers.test_clock_ref is not null
      and (customers.provider_id, customers.reference) in (
        select * from unnest(${customers.map(({ providerId }) => providerId)}::text[],
          ${customers.map(({ customerRef }) => customerRef)}::text[]))`
  return new Map(rows.map((row) => [row.reference, row.time_reached]))
}

/** Selects the customers of one clock, for a comparison with (provider_id, customer_ref). */
export function selectCustomersOfClock(
  sql: Queryable,
  { providerId, reference }: { readonly providerId: string; readonly reference: string },
): Fragment {
  return sql`
    select provider_id, reference from customers
    where provider_id = ${providerId} and test_clock_ref = ${reference}`
}

/** Returns the condition that a row's customer lives by a clock that advances. `table` has `provider_id` and `customer_ref`. */
export function isOnAdvancingClock(sql: Queryable, table: Fragment): Fragment {
  return sql`exists (
    select from test_clocks as clock
    join customers on customers.provider_id = clock.provider_id
      and customers.test_clock_ref = clock.reference
    where clock.status = 'advancing' and customers.provider_id = ${table}.provider_id
      and customers.reference = ${table}.customer_ref)`
}

/** Selects all customers who have a clock, for a comparison with (provider_id, customer_ref). */
export function selectCustomersOfClocks(sql: Queryable): Fragment {
  return sql`select provider_id, reference from customers where test_clock_ref is not null`
}
