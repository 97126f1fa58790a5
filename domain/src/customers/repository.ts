import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

export type Customer = {
  readonly reference: string
  readonly email: string
  readonly name: string | null
  readonly telephone: string | null
  readonly externalRef: string | null
  /** Language of emails, such as `pt-BR`; null for the language of the provider. */
  readonly locale: string | null
  readonly status: 'active'
  readonly metadata: JsonObject
  /** The customer's test clock. Null for real time. It never changes. */
  readonly testClockRef: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type CustomerRow = {
  reference: string
  email: string
  name: string | null
  telephone: string | null
  external_ref: string | null
  locale: string | null
  status: 'active'
  metadata: JsonObject
  test_clock_ref: string | null
  created_at: Date
  updated_at: Date
}

export async function insertCustomer(
  sql: Queryable,
  providerId: string,
  customer: Customer,
): Promise<void> {
  await sql`
    insert into customers
      (provider_id, reference, email, name, telephone, external_ref, locale, status, metadata,
       test_clock_ref, created_at, updated_at)
    values (${providerId}, ${customer.reference}, ${customer.email}, ${customer.name},
      ${customer.telephone}, ${customer.externalRef}, ${customer.locale}, ${customer.status},
      ${jsonb(sql, customer.metadata)}, ${customer.testClockRef}, ${customer.createdAt},
      ${customer.updatedAt})`
}

export async function updateCustomer(
  sql: Queryable,
  providerId: string,
  customer: Customer,
): Promise<void> {
  await sql`
    update customers set email = ${customer.email}, name = ${customer.name},
      telephone = ${customer.telephone}, external_ref = ${customer.externalRef},
      locale = ${customer.locale}, metadata = ${jsonb(sql, customer.metadata)}, updated_at = ${customer.updatedAt}
    where provider_id = ${providerId} and reference = ${customer.reference}`
}

/**
 * Erases the customer's personal data. The row stays with its reference, because other records contain the reference.
 */
export async function eraseCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update customers set status = 'deleted', email = '', name = null, telephone = null,
      external_ref = null, locale = null, metadata = '{}', updated_at = ${now}
    where provider_id = ${providerId} and reference = ${customerRef}`
}

/** Releases the customer's external references, so that they can be linked to other customers. */
export async function releaseExternalRefs(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update customer_references set released_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and reference <> ${customerRef} and released_at is null`
}

/**
 * Returns whether this is the own reference of a deleted customer. Such a reference is never given to another customer.
 */
export async function isReferenceOfDeleted(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from customers
      where provider_id = ${providerId} and reference = ${reference} and status = 'deleted'
    ) as found`
  return row!.found
}

/** Returns whether the reference belonged to a customer who is deleted. */
export async function isDeletedCustomer(
  sql: Queryable,
  providerId: string,
  anyReference: string,
): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from customer_references link
      join customers on customers.provider_id = link.provider_id
        and customers.reference = link.customer_ref
      where link.provider_id = ${providerId} and link.reference = ${anyReference}
        and customers.status = 'deleted'
    ) as found`
  return row!.found
}

/** Links a reference to the customer. Violates the unique constraint if it is linked to another customer. */
export async function linkReference(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  reference: string,
  linkedAt: Date,
): Promise<void> {
  await sql`
    insert into customer_references (provider_id, customer_ref, reference, linked_at)
    values (${providerId}, ${customerRef}, ${reference}, ${linkedAt})`
}

/** Finds the active customer by the customer's own reference or a linked external reference. */
export async function findCustomer(
  sql: Queryable,
  providerId: string,
  anyReference: string,
): Promise<Customer | undefined> {
  const [row] = await sql<CustomerRow[]>`
    select customers.* from customer_references link
    join customers on customers.provider_id = link.provider_id
      and customers.reference = link.customer_ref
    where link.provider_id = ${providerId} and link.reference = ${anyReference}
      and link.released_at is null and customers.status = 'active'`
  return row === undefined ? undefined : customerFromRow(row)
}

/**
 * Returns the reference that a customer's records contain, from any reference of the customer. A deleted customer is
 * still found by the own reference, because invoices and purchases outlive the customer.
 */
export async function findCustomerReference(
  sql: Queryable,
  providerId: string,
  anyReference: string,
): Promise<string | undefined> {
  const [row] = await sql<{ customer_ref: string }[]>`
    select customer_ref from customer_references
    where provider_id = ${providerId} and reference = ${anyReference} and released_at is null`
  return row?.customer_ref
}

export async function findCustomerByEmail(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<Customer | undefined> {
  const [row] = await sql<CustomerRow[]>`
    select * from customers where provider_id = ${providerId} and email_key = lower(${email}) and status = 'active'`
  return row === undefined ? undefined : customerFromRow(row)
}

/** End of the email addresses that clients generate for users whose address they do not know. */
export const generatedEmailEnd = '@auto-created.local'

/**
 * Returns the customers whose current external reference is this email address (ignoring case) and whose own email is a
 * generated one. Returns at most 2.
 */
export async function findCustomersByAddressRef(
  sql: Queryable,
  providerId: string,
  address: string,
): Promise<Customer[]> {
  const rows = await sql<CustomerRow[]>`
    select * from customers
    where provider_id = ${providerId} and lower(external_ref) = lower(${address})
      and status = 'active' and email_key like ${`%${generatedEmailEnd}`}
    limit 2`
  return rows.map(customerFromRow)
}

/**
 * Locks the customer by the own reference. All changes of the customer and of the customer's purchases start with this
 * lock, so they run one after the other.
 */
export async function lockCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Customer | undefined> {
  const [row] = await sql<CustomerRow[]>`
    select * from customers where provider_id = ${providerId} and reference = ${customerRef} and status = 'active'
    for update`
  return row === undefined ? undefined : customerFromRow(row)
}

export async function listReferences(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select reference from customer_references
    where provider_id = ${providerId} and customer_ref = ${customerRef}
    order by linked_at, reference`
  return rows.map((row) => row.reference)
}

/** Returns the references of several customers, keyed by the customer's own reference. */
export async function listReferencesByCustomer(
  sql: Queryable,
  providerId: string,
  customerRefs: readonly string[],
): Promise<Map<string, string[]>> {
  const references = new Map<string, string[]>(customerRefs.map((ref) => [ref, []]))
  if (references.size === 0) return references
  const rows = await sql<{ customer_ref: string; reference: string }[]>`
    select customer_ref, reference from customer_references
    where provider_id = ${providerId} and customer_ref in ${sql([...references.keys()])}
    order by linked_at, reference`
  for (const row of rows) references.get(row.customer_ref)?.push(row.reference)
  return references
}

/** Names a customer of any provider by the own reference, which is unique across providers. */
export type CustomerKey = {
  readonly providerId: string
  readonly customerRef: string
}

/**
 * Returns the references of the customers, keyed by the customer's own reference, in the order in which they were
 * linked. A reference of a deleted customer counts as that customer's until it is linked to another customer.
 */
export async function listCurrentReferences(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, string[]>> {
  const references = new Map<string, string[]>()
  const rows = await sql<{ customer_ref: string; reference: string }[]>`
    select customer_ref, reference from customer_references link
    where (provider_id, customer_ref) in (${selectKeys(sql, customers)})
      and (released_at is null or not exists (
        select from customer_references held
        where held.provider_id = link.provider_id and held.reference = link.reference
          and held.released_at is null))
    order by linked_at, reference`
  for (const row of rows) {
    const found = references.get(row.customer_ref)
    if (found === undefined) references.set(row.customer_ref, [row.reference])
    else found.push(row.reference)
  }
  return references
}

/** Selects the customers' names for a comparison with (provider_id, customer_ref). */
export function selectKeys(sql: Queryable, customers: readonly CustomerKey[]): Fragment {
  const providerIds = customers.map(({ providerId }) => providerId)
  const customerRefs = customers.map(({ customerRef }) => customerRef)
  return sql`select * from unnest(${providerIds}::text[], ${customerRefs}::text[])`
}

/**
 * Assigns the next publication version to each customer, and keeps the customers' rows locked until the transaction
 * ends. Returns the versions keyed by the customer's own reference. Customers that do not exist are absent.
 */
export async function raisePublicationVersions(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, number>> {
  const rows = await sql<{ customer_ref: string; version: bigint }[]>`
    with locked as (
      select provider_id, reference from customers
      where (provider_id, reference) in (${selectKeys(sql, customers)}) for no key update
    )
    insert into customer_publications as last (provider_id, customer_ref, version)
    select provider_id, reference, nextval('publication_versions') from locked
    on conflict (provider_id, customer_ref)
      do update set version = greatest(last.version + 1, excluded.version)
    returning customer_ref, version`
  return new Map(rows.map((row) => [row.customer_ref, Number(row.version)]))
}

export function customerFromRow(row: CustomerRow): Customer {
  return {
    reference: row.reference,
    email: row.email,
    name: row.name,
    telephone: row.telephone,
    externalRef: row.external_ref,
    locale: row.locale,
    status: row.status,
    metadata: row.metadata,
    testClockRef: row.test_clock_ref,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
