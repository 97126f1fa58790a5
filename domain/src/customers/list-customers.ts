import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import { customerFromRow, type Customer, type CustomerRow } from './repository.ts'

/**
 * Returns a page of customers, newest first. `search` is the beginning of an email address, a name or a reference (the
 * customer's own or a linked one). Only the first matches of each kind are found and counted.
 */
export async function listCustomers(
  sql: Queryable,
  providerId: string,
  { search, ...range }: PageRange & { readonly search: string | undefined },
): Promise<{ customers: Customer[]; total: number }> {
  const matching = sql`
    from customers where provider_id = ${providerId} and status = 'active'
    ${search === undefined ? sql`` : sql`and reference in (${selectFound(sql, providerId, search)})`}`
  const order = sql`created_at desc, reference`
  const { rows, total } = await selectPage<CustomerRow>(sql, matching, order, range)
  return { customers: rows.map(customerFromRow), total }
}

/** Largest number of matches of each kind. A user who sees this many types more characters. */
const matchesMax = 1_000

/**
 * The highest code point. In byte order, all texts that begin with a prefix come before the prefix followed by this
 * character.
 */
const lastCharacter = '\u{10FFFF}'

function selectFound(sql: Queryable, providerId: string, search: string): Fragment {
  const end = search + lastCharacter
  return sql`
    (select reference from customers where provider_id = ${providerId} and status = 'active'
      and email_key ~>=~ lower(${search}) and email_key ~<~ lower(${end})
      order by email_key using ~<~ limit ${matchesMax})
    union all
    (select reference from customers where provider_id = ${providerId} and status = 'active'
      and name_key ~>=~ lower(${search}) and name_key ~<~ lower(${end})
      order by name_key using ~<~ limit ${matchesMax})
    union all
    (select customer_ref from customer_references where provider_id = ${providerId}
      and released_at is null and reference ~>=~ ${search} and reference ~<~ ${end}
      order by reference using ~<~ limit ${matchesMax})`
}

/** Returns active customers keyed by the given references, which may be linked ones. Deleted customers are absent. */
export async function listCustomersByReference(
  sql: Queryable,
  providerId: string,
  references: readonly string[],
): Promise<Map<string, Customer>> {
  const rows = await sql<(CustomerRow & { given: string })[]>`
    select link.reference as given, customers.* from customer_references link
    join customers on customers.provider_id = link.provider_id
      and customers.reference = link.customer_ref
    where link.provider_id = ${providerId} and link.reference = any(${[...references]}::text[])
      and link.released_at is null and customers.status = 'active'`
  return new Map(rows.map((row) => [row.given, customerFromRow(row)]))
}

export async function countCustomers(sql: Queryable, providerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from customers
    where provider_id = ${providerId} and status = 'active'`
  return row!.total
}
