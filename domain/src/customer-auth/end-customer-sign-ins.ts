import type { Queryable } from '@tollgate/platform/database/database'
import { revokeTokensWhere } from './revoked-tokens.ts'
import { removeIdentities } from './upstream-identities.ts'

/** A customer by the own reference. */
type SignedInCustomer = {
  readonly reference: string
  /** All current and former sign-in addresses of the customer, in lower case. */
  readonly addresses: readonly string[]
}

/**
 * Ends everything that lets people act for the customer: the clients that were allowed, signed-in browsers, codes, and
 * links of upstream accounts. Clients that an agent has for the customer stay, because the provider issued them. Call
 * this in a transaction with the customer's row locked.
 */
export async function endCustomerSignIns(
  sql: Queryable,
  providerId: string,
  { reference, addresses }: SignedInCustomer,
  now: Date,
): Promise<void> {
  await sql`
    select from oauth_records where provider_id = ${providerId} and customer_ref = ${reference}
    order by record_sha256 for update`
  const isGranted = sql`customer_ref = ${reference} and grant_sha256 is not null`
  await revokeTokensWhere(sql, providerId, isGranted, now)
  await sql`
    delete from oauth_records
    where provider_id = ${providerId} and customer_ref = ${reference} and model <> 'Client'`
  await removeIdentities(sql, providerId, reference)
  await deleteAddressData(sql, providerId, { reference, addresses })
}

/**
 * Deletes the sessions, codes and inbox messages of the addresses. Skips an address that now belongs to another
 * customer.
 */
async function deleteAddressData(
  sql: Queryable,
  providerId: string,
  { reference, addresses }: SignedInCustomer,
): Promise<void> {
  const others = await sql<{ email_key: string }[]>`
    select email_key from customers
    where provider_id = ${providerId} and email_key = any (${[...addresses]}) and status = 'active'
      and reference <> ${reference}`
  const taken = new Set(others.map((row) => row.email_key))
  const own = addresses.filter((address) => !taken.has(address))
  await sql`
    delete from customer_browser_sessions
    where provider_id = ${providerId} and lower(email) = any (${own})`
  await sql`
    delete from customer_sign_ins where provider_id = ${providerId} and lower(email) = any (${own})`
  await sql`
    delete from inbox_messages
    where provider_id = ${providerId} and lower(recipient) = any (${own})`
}
