import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { selectCustomerRef, type CustomerName } from './customer-name.ts'
import { customerFromRow, type Customer, type CustomerRow } from './repository.ts'

/** What is needed to add up the usage of a customer. */
export type UsageSources = {
  /** All references under which usage of the customer is counted, in the order in which they were linked. */
  readonly references: readonly string[]
  /** Ids of the windows in which several purchases count. */
  readonly sharedWindows: readonly string[]
  /** Whether the customer ever had a pack. */
  readonly hasPacks: boolean
}

type SourcesRow = {
  customer_references: string[]
  shared_windows: string[]
  has_packs: boolean
}

/**
 * Finds the active customer and the sources of its usage. One statement in place of four, because a statement costs more than the
 * rows that it reads.
 */
export async function findCustomerWithSources(
  sql: Queryable,
  providerId: string,
  name: CustomerName,
): Promise<{ customer: Customer; sources: UsageSources } | undefined> {
  const [row] = await sql<(CustomerRow & SourcesRow)[]>`
    select customers.*, ${selectSources(sql)}
    from customers
    where provider_id = ${providerId} and status = 'active'
      and reference = (${selectCustomerRef(sql, providerId, name)})`
  return row && { customer: customerFromRow(row), sources: sourcesFromRow(row) }
}

/** Returns the sources of several customers, deleted ones included, by the customer's own reference. */
export async function listUsageSources(
  sql: Queryable,
  providerId: string,
  customerRefs: readonly string[],
): Promise<Map<string, UsageSources>> {
  if (customerRefs.length === 0) return new Map()
  const rows = await sql<(SourcesRow & { reference: string })[]>`
    select customers.reference, ${selectSources(sql)}
    from customers
    where provider_id = ${providerId} and reference = any(${[...new Set(customerRefs)]}::text[])`
  return new Map(rows.map((row) => [row.reference, sourcesFromRow(row)]))
}

function selectSources(sql: Queryable): Fragment {
  return sql`
    array(
      select link.reference from customer_references link
      where link.provider_id = customers.provider_id and link.customer_ref = customers.reference
      order by linked_at, link.reference) as customer_references,
    array(
      select distinct allowance_window from purchases
      where purchases.provider_id = customers.provider_id
        and purchases.customer_ref = customers.reference
        and allowance_window is not null) as shared_windows,
    exists (
      select from pack_accounts
      where pack_accounts.provider_id = customers.provider_id
        and pack_accounts.customer_ref = customers.reference) as has_packs`
}

function sourcesFromRow(row: SourcesRow): UsageSources {
  return {
    references: row.customer_references,
    sharedWindows: row.shared_windows,
    hasPacks: row.has_packs,
  }
}
