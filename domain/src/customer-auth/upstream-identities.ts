import type { Queryable } from '@tollgate/platform/database/database'
import type { Customer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findCustomerOfEmail } from './find-customer-of-email.ts'

/** An account at an upstream. `subject` is the id that never changes and is never given to another person. */
export type UpstreamIdentity = { readonly issuer: string; readonly subject: string }

type Link = { email: string; customer_ref: string }

/**
 * Returns the email address of the account: the address under which it was linked, as long as that address still leads
 * to the same customer, otherwise the address that the upstream has verified now. Returns undefined if the customer
 * with the verified address is linked to another account of the upstream, because mail providers reassign addresses to
 * new people.
 */
async function findEmailOfIdentity(
  sql: Queryable,
  providerId: string,
  { issuer, subject }: UpstreamIdentity,
  verifiedEmail: string,
): Promise<string | undefined> {
  const holds = async ({ email, customer_ref: customerRef }: Link): Promise<boolean> =>
    (await findCustomerOfEmail(sql, providerId, email))?.reference === customerRef
  const [own] = await sql<Link[]>`
    select email, customer_ref from customer_identities
    where provider_id = ${providerId} and issuer = ${issuer} and subject = ${subject}`
  if (own !== undefined && (await holds(own))) return own.email
  const [other] = await sql<Link[]>`
    select email, customer_ref from customer_identities
    where provider_id = ${providerId} and issuer = ${issuer} and subject <> ${subject}
      and email_key = lower(${verifiedEmail})`
  return other !== undefined && (await holds(other)) ? undefined : verifiedEmail
}

/**
 * Begins a sign-in with the account and returns its address, as `findEmailOfIdentity` does. A link of the account that
 * is no longer valid is removed, together with the sessions that began under it. From then on, the verified address
 * counts.
 */
export async function resolveSignInAddress(
  work: UnitOfWork,
  identity: UpstreamIdentity,
  verifiedEmail: string,
): Promise<string | undefined> {
  const { sql, providerId } = work
  if ((await checkLink(work, identity)) === 'over') {
    await removeLinks(sql, providerId, identity.issuer, [identity.subject])
  }
  return findEmailOfIdentity(sql, providerId, identity, verifiedEmail)
}

async function checkLink(
  { sql, providerId }: UnitOfWork,
  { issuer, subject }: UpstreamIdentity,
): Promise<'none' | 'holds' | 'over'> {
  const [link] = await sql<Link[]>`
    select email, customer_ref from customer_identities
    where provider_id = ${providerId} and issuer = ${issuer} and subject = ${subject}
    for update`
  if (link === undefined) return 'none'
  const owner = await findCustomerOfEmail(sql, providerId, link.email)
  return owner?.reference === link.customer_ref ? 'holds' : 'over'
}

/** Removes the links of the accounts. Browsers that signed in with these accounts must sign in again. */
async function removeLinks(
  sql: Queryable,
  providerId: string,
  issuer: string,
  subjects: readonly string[],
): Promise<void> {
  await sql`
    delete from customer_browser_sessions
    where provider_id = ${providerId} and issuer = ${issuer} and subject = any (${[...subjects]})`
  await sql`
    delete from customer_identities
    where provider_id = ${providerId} and issuer = ${issuer} and subject = any (${[...subjects]})`
}

/**
 * Links the account to the customer of the address that it signed in with. This runs in the transaction of the action
 * that needed the sign-in, so after a crash both are stored or neither. `requireOwner` returns the customer of the
 * address with the row locked, and creates the customer if there is none.
 *
 * Returns undefined and does nothing if the account now has another address, or its link is no longer valid: the
 * address of the session may belong to another person by now. If two accounts are linked to one address at once, a
 * unique constraint lets one commit. The unit of work of the other one runs again and returns undefined.
 */
export async function linkIdentity(
  work: UnitOfWork,
  { identity, email }: { readonly identity: UpstreamIdentity; readonly email: string },
  requireOwner: () => Promise<Customer>,
): Promise<Customer | undefined> {
  const { sql, providerId, now } = work
  const { issuer, subject } = identity
  if ((await checkLink(work, identity)) === 'over') return undefined
  // Read before the decision, so that a link that another account adds afterwards is not deleted below.
  const stale = await sql<{ subject: string }[]>`
    select subject from customer_identities
    where provider_id = ${providerId} and issuer = ${issuer} and subject <> ${subject}
      and email_key = lower(${email})
    for update`
  const current = await findEmailOfIdentity(sql, providerId, identity, email)
  if (current?.toLowerCase() !== email.toLowerCase()) return undefined
  const staleSubjects = stale.map((row) => row.subject)
  if (staleSubjects.length > 0) await removeLinks(sql, providerId, issuer, staleSubjects)
  const customer = await requireOwner()
  const { reference: customer_ref } = customer
  const row = { provider_id: providerId, issuer, subject, email, customer_ref, created_at: now }
  await sql`
    insert into customer_identities ${sql(row)}
    on conflict (provider_id, issuer, subject) do update set customer_ref = excluded.customer_ref`
  return customer
}

/** Removes the links of the customer's accounts, and the sessions that began with them. */
export async function removeIdentities(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from customer_browser_sessions
    where provider_id = ${providerId} and (issuer, subject) in (
      select issuer, subject from customer_identities
      where provider_id = ${providerId} and customer_ref = ${customerRef})`
  await sql`
    delete from customer_identities
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

export async function listLinkedAddresses(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select email from customer_identities
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  return rows.map((row) => row.email)
}
