import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { TestClock, TestClockStatus } from './test-clock.ts'

/** The names by which a request may name a customer. Names that are not given are undefined. */
export type CustomerNames = {
  /** Any reference of the customer. */
  readonly customer?: string | undefined
  readonly email?: string | undefined
  readonly purchase?: string | undefined
  readonly invoice?: string | undefined
  /** Id of a checkout or of a customer session. */
  readonly session?: string | undefined
  /** Our reference of a payment, or the processor's id. */
  readonly payment?: string | undefined
  readonly testClock?: string | undefined
}

export type FoundClock = Pick<TestClock, 'reference' | 'status' | 'timeReached'>

/** Returns the clock of the customer whom a request names in some way, or undefined for a customer of real time. */
export async function findClockOf(
  sql: Queryable,
  providerId: string,
  names: CustomerNames,
): Promise<FoundClock | undefined> {
  const candidates = Object.entries(names).flatMap(([kind, name]) =>
    name === undefined || name === ''
      ? []
      : [selectClockRef(sql, kind as keyof CustomerNames, name)],
  )
  if (candidates.length === 0) return undefined
  const [row] = await sql<{ reference: string; status: TestClockStatus; time_reached: Date }[]>`
    select reference, status, time_reached from test_clocks
    where provider_id = ${providerId} and reference in (
      ${candidates
        .map(
          (select) =>
            sql`select test_clock_ref from (${select}) as found where provider_id = ${providerId}`,
        )
        .reduce((before, select) => sql`${before} union all ${select}`)})
    limit 1`
  if (row === undefined) return undefined
  return { reference: row.reference, status: row.status, timeReached: row.time_reached }
}

/** Selects `provider_id` and `test_clock_ref` of the customers with that name. */
function selectClockRef(sql: Queryable, kind: keyof CustomerNames, name: string): Fragment {
  const ofCustomer = (select: Fragment): Fragment => sql`
    select customers.provider_id, customers.test_clock_ref from (${select}) as named
    join customers on customers.provider_id = named.provider_id
      and customers.reference = named.customer_ref`
  switch (kind) {
    case 'customer':
      return ofCustomer(sql`
        select provider_id, customer_ref from customer_references
        where reference = ${name} and released_at is null`)
    case 'email':
      return sql`
        select provider_id, test_clock_ref from customers
        where email_key = lower(${name}) and status = 'active'`
    case 'purchase':
      return ofCustomer(
        sql`select provider_id, customer_ref from purchases where reference = ${name}`,
      )
    case 'invoice':
      return ofCustomer(
        sql`select provider_id, customer_ref from invoices where reference = ${name}`,
      )
    case 'session':
      return ofCustomer(sql`
        select provider_id, customer_ref from checkout_sessions where session_id = ${name}
        union all
        select provider_id, customer_ref from customer_sessions where session_id = ${name}`)
    case 'payment':
      return ofCustomer(sql`
        select provider_id, customer_ref from payment_intents
        where reference = ${name} or processor_payment_id = ${name}`)
    case 'testClock':
      return sql`select ${name}::text as test_clock_ref, provider_id from test_clocks where reference = ${name}`
  }
}
