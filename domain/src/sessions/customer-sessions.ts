import type { Queryable } from '@tollgate/platform/database/database'
import { digestOf, drawCookieToken, drawSessionId, sessionMs } from './hosted-pages.ts'

export type CustomerSession = {
  readonly sessionId: string
  /** The customer's own reference. */
  readonly customerRef: string
  readonly productRef: string | null
  readonly status: 'active' | 'used'
  readonly expiresAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}

type CustomerSessionRow = {
  session_id: string
  customer_ref: string
  product_ref: string | null
  status: 'active' | 'used'
  expires_at: Date
  created_at: Date
  updated_at: Date
}

/** Opens the portal for the customer. One statement that tells nobody of itself, so it needs no transaction. */
export async function openCustomerSession(
  sql: Queryable,
  providerId: string,
  customer: { readonly customerRef: string; readonly productRef: string | null },
  now: Date,
): Promise<CustomerSession> {
  const session: CustomerSession = {
    ...customer,
    sessionId: drawSessionId(),
    status: 'active',
    expiresAt: new Date(now.getTime() + sessionMs),
    createdAt: now,
    updatedAt: now,
  }
  await sql`
    insert into customer_sessions
      (provider_id, session_id, customer_ref, product_ref, status, expires_at, created_at, updated_at)
    values (${providerId}, ${session.sessionId}, ${session.customerRef}, ${session.productRef},
      ${session.status}, ${session.expiresAt}, ${session.createdAt}, ${session.updatedAt})`
  return session
}

/** What a browser showed of a session, or a link names, and whose it turned out to be. */
export type PlacedCustomerSession = {
  readonly providerId: string
  readonly session: CustomerSession
}

/** Of any provider: nobody knows yet whose link it is. */
export async function placeCustomerSession(
  sql: Queryable,
  sessionId: string,
): Promise<PlacedCustomerSession | undefined> {
  const [row] = await sql<(CustomerSessionRow & { provider_id: string })[]>`
    select * from customer_sessions where session_id = ${sessionId}`
  return row === undefined ? undefined : { providerId: row.provider_id, session: fromRow(row) }
}

/** The portal that a browser has open. Of any provider. */
export async function findOpenPortal(
  sql: Queryable,
  cookieToken: string,
  now: Date,
): Promise<PlacedCustomerSession | undefined> {
  const [row] = await sql<(CustomerSessionRow & { provider_id: string })[]>`
    select * from customer_sessions
    where cookie_sha256 = ${digestOf(cookieToken)} and open_until > ${now}`
  return row === undefined ? undefined : { providerId: row.provider_id, session: fromRow(row) }
}

/**
 * Lets in whoever comes first with the link; nobody after that. Returns what the browser is known by from now on, of
 * which we keep the digest alone; undefined when the link was used, or its time is up.
 */
export async function openPortal(
  sql: Queryable,
  providerId: string,
  sessionId: string,
  openUntil: Date,
  now: Date,
): Promise<string | undefined> {
  const cookieToken = drawCookieToken()
  const opened = await sql`
    update customer_sessions set status = 'used', cookie_sha256 = ${digestOf(cookieToken)},
      open_until = ${openUntil}, updated_at = ${now}
    where provider_id = ${providerId} and session_id = ${sessionId} and status = 'active'
      and expires_at > ${now}`
  return opened.count === 1 ? cookieToken : undefined
}

/** The customer is done, on this device. */
export async function closePortal(
  sql: Queryable,
  providerId: string,
  sessionId: string,
  now: Date,
): Promise<void> {
  await sql`
    update customer_sessions set open_until = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and session_id = ${sessionId} and open_until > ${now}`
}

export async function findCustomerSession(
  sql: Queryable,
  providerId: string,
  sessionId: string,
): Promise<CustomerSession | undefined> {
  const [row] = await sql<CustomerSessionRow[]>`
    select * from customer_sessions
    where provider_id = ${providerId} and session_id = ${sessionId}`
  return row === undefined ? undefined : fromRow(row)
}

/** Whoever was let in by one is not any more. */
export async function removeCustomerSessions(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from customer_sessions
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** Deletes sessions that expired before that instant, some at a time. Returns how many. */
export async function sweepCustomerSessions(
  sql: Queryable,
  expiredBefore: Date,
  rowsMax: number,
): Promise<number> {
  const rows = await sql`
    delete from customer_sessions where session_id in (
      select session_id from customer_sessions
      where expires_at < ${expiredBefore} order by expires_at limit ${rowsMax})`
  return rows.count
}

/** What the session is at that instant. */
export function customerSessionStatus(
  session: CustomerSession,
  now: Date,
): 'active' | 'used' | 'expired' {
  if (session.status === 'used') return 'used'
  return now.getTime() < session.expiresAt.getTime() ? 'active' : 'expired'
}

function fromRow(row: CustomerSessionRow): CustomerSession {
  return {
    sessionId: row.session_id,
    customerRef: row.customer_ref,
    productRef: row.product_ref,
    status: row.status,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
