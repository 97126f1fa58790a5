import type { Queryable } from '@tollgate/platform/database/database'

export async function findProcessorCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<string | undefined> {
  const [row] = await sql<{ processor_customer_id: string }[]>`
    select processor_customer_id from processor_customers
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  return row?.processor_customer_id
}

/**
 * Stores the processor's id of a customer and returns the stored id. An id that is already stored stays. If the customer was
 * deleted meanwhile, the new row is due for removal at the processor.
 */
export async function saveProcessorCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  id: string,
  now: Date,
): Promise<string> {
  await sql`
    insert into processor_customers
      (provider_id, customer_ref, processor_customer_id, created_at, removal_due_at)
    select provider_id, reference, ${id}, ${now}::timestamptz,
      case when status = 'deleted' then ${now}::timestamptz end
    from customers where provider_id = ${providerId} and reference = ${customerRef} for key share
    on conflict (provider_id, customer_ref) do nothing`
  return (await findProcessorCustomer(sql, providerId, customerRef)) ?? id
}

/** Marks the customer for deletion at the processor. A job deletes the customer once none of the payments is open. */
export async function requestProcessorCustomerRemoval(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update processor_customers set removal_due_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** A deleted customer that must be deleted at the processor. */
export type Removal = {
  readonly providerId: string
  readonly customerRef: string
  /** The processor's id of the customer. */
  readonly id: string
  readonly tries: number
}

/**
 * Claims deleted customers without open payments or wanted refunds, the longest due first. No other process claims them before
 * `againAt`.
 */
export async function claimRemovals(
  sql: Queryable,
  now: Date,
  againAt: Date,
  rowsMax: number,
): Promise<Removal[]> {
  const rows = await sql<
    {
      provider_id: string
      customer_ref: string
      processor_customer_id: string
      removal_tries: number
    }[]
  >`
    update processor_customers set removal_due_at = ${againAt}, removal_tries = removal_tries + 1
    where (provider_id, customer_ref) in (
      select provider_id, customer_ref from processor_customers as kept
      where removal_due_at <= ${now} and not exists (
        select from payment_intents
        where payment_intents.provider_id = kept.provider_id
          and payment_intents.customer_ref = kept.customer_ref
          and (refund_wanted or status not in ('succeeded', 'canceled', 'failed')))
      order by removal_due_at limit ${rowsMax} for update skip locked)
    returning provider_id, customer_ref, processor_customer_id, removal_tries`
  return rows.map((row) => ({
    providerId: row.provider_id,
    customerRef: row.customer_ref,
    id: row.processor_customer_id,
    tries: row.removal_tries,
  }))
}

export async function deleteProcessorCustomer(
  sql: Queryable,
  { providerId, customerRef }: Pick<Removal, 'providerId' | 'customerRef'>,
): Promise<void> {
  await sql`
    delete from processor_customers
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

export async function postponeRemoval(
  sql: Queryable,
  { providerId, customerRef }: Pick<Removal, 'providerId' | 'customerRef'>,
  error: string,
  dueAt: Date,
): Promise<void> {
  await sql`
    update processor_customers
    set removal_error = ${error}, removal_due_at = ${dueAt}
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}
