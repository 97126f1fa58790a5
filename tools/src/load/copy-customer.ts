import { randomBytes } from 'node:crypto'
import { newReference } from '@tollgate/schemas/references'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { listColumns } from '@tollgate/platform/database/postgres/copy-tables'

/** References of one copy. */
export type CustomerCopy = {
  readonly customerRef: string
  readonly externalRef: string
  readonly purchaseRef: string
}

export function newCopy(externalRef: string): CustomerCopy {
  return {
    customerRef: newReference('customer', randomBytes),
    externalRef,
    purchaseRef: newReference('purchase', randomBytes),
  }
}

/** Number of copies with which each transaction finishes well within the statement timeout. */
const copiesPerTransaction = 5_000

/**
 * Creates copies of a customer with its external reference and purchase, and queues them for publication. The rows are copies of
 * those that the API wrote. Only the references and the email differ.
 */
export async function copyCustomer(
  pool: Database['control'],
  originalRef: string,
  copies: readonly CustomerCopy[],
): Promise<void> {
  for (let first = 0; first < copies.length; first += copiesPerTransaction) {
    const some = copies.slice(first, first + copiesPerTransaction)
    await pool.begin((sql) => insertCopies(sql, originalRef, some))
  }
}

async function insertCopies(
  sql: Queryable,
  originalRef: string,
  copies: readonly CustomerCopy[],
): Promise<void> {
  const customerRefs = copies.map(({ customerRef }) => customerRef)
  const externalRefs = copies.map(({ externalRef }) => externalRef)
  const purchaseRefs = copies.map(({ purchaseRef }) => purchaseRef)
  const copy = () => sql`
    unnest(${customerRefs}::text[], ${externalRefs}::text[], ${purchaseRefs}::text[])
      as copy (customer_ref, external_ref, purchase_ref)`
  const columns = sql(await listColumns(sql, 'customers'))
  await sql`
    insert into customers (${columns})
    select ${columns} from (
      select made.* from customers original, ${copy()}, jsonb_populate_record(original, jsonb_build_object(
        'reference', copy.customer_ref, 'external_ref', copy.external_ref,
        'email', copy.external_ref || '@measured.example', 'publication_version', 0)) as made
      where original.reference = ${originalRef}) as copies`
  await sql`
    insert into customer_references
    select made.* from customer_references original, ${copy()}, jsonb_populate_record(original, jsonb_build_object(
      'customer_ref', copy.customer_ref, 'reference',
      case original.reference when ${originalRef} then copy.customer_ref else copy.external_ref end)) as made
    where original.customer_ref = ${originalRef}`
  const purchaseColumns = sql(await listColumns(sql, 'purchases'))
  await sql`
    insert into purchases (${purchaseColumns})
    select ${purchaseColumns} from (
      select made.* from purchases original, ${copy()}, jsonb_populate_record(original, jsonb_build_object(
        'reference', copy.purchase_ref, 'customer_ref', copy.customer_ref)) as made
      where original.customer_ref = ${originalRef}) as copies`
  await sql`
    insert into publications (provider_id, kind, target)
    select provider_id, 'customer', copy.customer_ref from customers, ${copy()}
    where reference = ${originalRef}`
}

/** Returns whether any customer is still waiting to be published. */
export async function hasUnpublishedCustomers(pool: Queryable): Promise<boolean> {
  const [row] = await pool<{ found: boolean }[]>`
    select exists (select from publications where kind = 'customer') as found`
  return row!.found
}
