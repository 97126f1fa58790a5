import { createHash } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Customer } from '../customers/repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { PaymentUnknownError } from './payment-unknown-error.ts'
import { processorOf, type PaymentParts } from './payment-parts.ts'
import { providerMetadataKey } from './payment-intent.ts'

export const customerMetadataKey = 'tollgate_customer'

/**
 * Whom we call the customer at the processor; made there when there is none yet. The key follows from what is asked, so
 * a crash behind the call finds the same one again; after a day another one would be made, and the first would stay
 * unused.
 */
export async function requireProcessorCustomer(
  parts: PaymentParts,
  operation: Operation,
  { reference, email, name }: Pick<Customer, 'reference' | 'email' | 'name'>,
): Promise<string> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const kept = await rows.read((sql) => findProcessorCustomer(sql, providerId, reference))
  if (kept !== undefined) return kept
  const metadata = { [providerMetadataKey]: providerId, [customerMetadataKey]: reference }
  const description = { email, ...(name === null ? {} : { name }), metadata }
  const words = createHash('sha256').update(JSON.stringify(description)).digest('hex')
  const key = `${reference}:customer:${words.slice(0, 16)}`
  const made = await processorOf(parts, environment).ensureCustomer(description, key)
  switch (made.outcome) {
    case 'unknown':
      throw new PaymentUnknownError(made.message)
    case 'refused':
      throw new Error(`the processor refused customer ${reference}: ${made.message}`)
    case 'done':
      return parts.commit(operation, ({ sql, now }) =>
        keepProcessorCustomer(sql, providerId, reference, made.value.id, now),
      )
  }
}

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

/** The one that was kept first stays. Whose customer was deleted meanwhile is to be forgotten there, too. */
async function keepProcessorCustomer(
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

/** Carried out by a job, once nothing of the customer's is to be paid any more. */
export async function wantProcessorCustomerRemoved(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update processor_customers set removal_due_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}
