import type { Queryable } from '@tollgate/platform/database/database'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { SessionLimits } from './hosted-parts.ts'
import { recordPortalOpening, type CheckoutSession } from './checkout-sessions.ts'
import { TooManySessionsError } from './too-many-sessions-error.ts'
import { digestOf, generateCookieToken, generateSessionId, sessionMs } from './hosted-pages.ts'

export type CustomerSession = {
  readonly sessionId: string
  /** Reference of the customer. */
  readonly customerRef: string
  readonly productRef: string | null
  /** The actor who issued the link; null in rows of older versions. */
  readonly issuedBy: string | null
  /** A language with or without a region, such as `pt-BR`; null for the browser's language. */
  readonly locale: string | null
  readonly status: 'active' | 'used'
  readonly expiresAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}

type CustomerSessionRow = {
  session_id: string
  customer_ref: string
  product_ref: string | null
  issued_by: string | null
  locale: string | null
  status: 'active' | 'used'
  expires_at: Date
  created_at: Date
  updated_at: Date
}

export type PortalRequest = {
  readonly customerRef: string
  readonly productRef: string | null
  /** Language of the pages. Default: the browser's language. */
  readonly locale?: string | null
}

type PortalLimits = Pick<SessionLimits, 'openPortalLinksMax'>
type PortalWork = { readonly sql: Queryable } & Pick<UnitOfWork, 'providerId' | 'now' | 'actor'>

/** Issues a link to the customer's portal. Throws a TooManySessionsError if the customer has the maximum of unused links. */
export async function openCustomerSession(
  work: PortalWork,
  limits: PortalLimits,
  request: PortalRequest,
): Promise<CustomerSession> {
  const session = await issueWithinLimit(work, limits, request)
  if (session !== undefined) return session
  const { sql, now } = work
  const [first] = await sql<{ expires_at: Date }[]>`
    select expires_at from customer_sessions
    where ${isUnused(work, request.customerRef)} order by expires_at limit 1`
  throw new TooManySessionsError((first?.expires_at ?? now).getTime() - now.getTime())
}

/**
 * Issues a link unless the limit is reached. It is one statement that emits no event, so it needs no transaction. Concurrent
 * requests may exceed the limit by their number.
 */
async function issueWithinLimit(
  work: PortalWork,
  { openPortalLinksMax }: PortalLimits,
  request: PortalRequest,
): Promise<CustomerSession | undefined> {
  const { sql, providerId, now, actor } = work
  const session: CustomerSession = {
    ...request,
    locale: request.locale ?? null,
    sessionId: generateSessionId(),
    issuedBy: actor.name,
    status: 'active',
    expiresAt: new Date(now.getTime() + sessionMs),
    createdAt: now,
    updatedAt: now,
  }
  const unused = isUnused(work, session.customerRef)
  const issued = await sql`
    insert into customer_sessions
      (provider_id, session_id, customer_ref, product_ref, issued_by, locale, status, expires_at,
       created_at, updated_at)
    select ${providerId}, ${session.sessionId}, ${session.customerRef}, ${session.productRef},
      ${session.issuedBy}, ${session.locale}::text, ${session.status}, ${session.expiresAt}::timestamptz,
      ${session.createdAt}::timestamptz, ${session.updatedAt}::timestamptz
    where (select count(*) from customer_sessions where ${unused}) < ${openPortalLinksMax}`
  return issued.count === 1 ? session : undefined
}

function isUnused({ sql, providerId, now }: PortalWork, customerRef: string) {
  return sql`
    provider_id = ${providerId} and customer_ref = ${customerRef} and status = 'active'
    and expires_at > ${now}`
}

/**
 * Issues a link for a request that only adds it to its response. Returns the newest unused link that the same actor issued for the
 * same product, if at least half of its time is left, so that a polling client does not use up the customer's limit. If the
 * customer has the maximum of unused links, returns the newest one, preferably for that product. Returns undefined only if those
 * were used meanwhile.
 */
export async function reuseOrOpenCustomerSession(
  work: PortalWork,
  limits: PortalLimits,
  request: PortalRequest,
): Promise<CustomerSession | undefined> {
  const fresh = await findFreshSession(work, request)
  if (fresh !== undefined) return fresh
  const issued = await issueWithinLimit(work, limits, request)
  if (issued !== undefined) return issued
  const [unused] = await work.sql<CustomerSessionRow[]>`
    select * from customer_sessions
    where ${isUnused(work, request.customerRef)}
    order by (product_ref is not distinct from ${request.productRef}) desc, expires_at desc, session_id
    limit 1`
  return unused === undefined ? undefined : fromRow(unused)
}

/**
 * Returns the newest unused link that the same actor issued for the same product, if at least half of its time is left. Changes
 * nothing.
 */
export async function findFreshSession(
  { sql, providerId, now, actor }: PortalWork,
  { customerRef, productRef }: PortalRequest,
): Promise<CustomerSession | undefined> {
  const [fresh] = await sql<CustomerSessionRow[]>`
    select * from customer_sessions
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and status = 'active' and expires_at > ${new Date(now.getTime() + sessionMs / 2)}
      and product_ref is not distinct from ${productRef} and issued_by = ${actor.name}
    order by expires_at desc limit 1`
  return fresh && fromRow(fresh)
}

/** A session found by the token of a link or a cookie, and its provider. */
export type LocatedCustomerSession = {
  readonly providerId: string
  readonly session: CustomerSession
}

/** Returns a session and its provider, looked up across all providers, because the link does not name one. */
export async function locateCustomerSession(
  sql: Queryable,
  sessionId: string,
): Promise<LocatedCustomerSession | undefined> {
  const [row] = await sql<(CustomerSessionRow & { provider_id: string })[]>`
    select * from customer_sessions where session_id = ${sessionId}`
  return row === undefined ? undefined : { providerId: row.provider_id, session: fromRow(row) }
}

/** A portal that was opened in a browser, with its provider. */
type LocatedPortal = LocatedCustomerSession & { readonly isOpen: boolean }

/** Returns the portal that the browser opened. A portal whose time is over is returned until the session is deleted. */
export async function findPortal(
  sql: Queryable,
  cookieToken: string,
  now: Date,
): Promise<LocatedPortal | undefined> {
  const [row] = await sql<(CustomerSessionRow & { provider_id: string; open_until: Date })[]>`
    select * from customer_sessions where cookie_sha256 = ${digestOf(cookieToken)}`
  if (row === undefined) return undefined
  const isOpen = now.getTime() < row.open_until.getTime()
  return { providerId: row.provider_id, session: fromRow(row), isOpen }
}

/**
 * Opens the portal for the first browser that uses the link, and for no other. Returns the token of the browser's cookie, of which
 * only the digest is stored. Undefined if the link was used or has expired.
 */
export async function openPortal(
  sql: Queryable,
  providerId: string,
  sessionId: string,
  openUntil: Date,
  now: Date,
): Promise<string | undefined> {
  const cookieToken = generateCookieToken()
  const opened = await sql`
    update customer_sessions set status = 'used', cookie_sha256 = ${digestOf(cookieToken)},
      open_until = ${openUntil}, updated_at = ${now}
    where provider_id = ${providerId} and session_id = ${sessionId} and status = 'active'
      and expires_at > ${now}`
  return opened.count === 1 ? cookieToken : undefined
}

/** A portal opened from a checkout, and the token of its cookie. */
export type OpenedPortal = { readonly session: CustomerSession; readonly token: string }

/**
 * Opens the portal for the browser in which a checkout was completed, without a link. Returns undefined if the checkout has opened
 * it before. Each checkout opens it once, and only one of concurrent requests succeeds.
 */
export async function openPortalFromCheckout(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  checkout: PortalRequest & Pick<CheckoutSession, 'reference' | 'browserSha256'>,
  openUntil: Date,
): Promise<OpenedPortal | undefined> {
  const { customerRef, productRef, locale = null } = checkout
  // The lock keeps a customer who is being deleted from getting a session.
  await lockCustomer(sql, providerId, customerRef)
  if (!(await recordPortalOpening(sql, providerId, checkout))) return undefined
  const issuedBy = `checkout:${checkout.reference}`
  const token = generateCookieToken()
  const session: CustomerSession = {
    ...{
      sessionId: generateSessionId(),
      customerRef,
      productRef,
      issuedBy,
      locale,
      status: 'used',
    },
    ...{ expiresAt: new Date(now.getTime() + sessionMs), createdAt: now, updatedAt: now },
  }
  await sql`
    insert into customer_sessions
      (provider_id, session_id, customer_ref, product_ref, issued_by, locale, status, expires_at,
       created_at, updated_at, cookie_sha256, open_until)
    values (${providerId}, ${session.sessionId}, ${customerRef}, ${productRef}, ${issuedBy},
      ${locale}, ${session.status}, ${session.expiresAt}, ${now}, ${now}, ${digestOf(token)}, ${openUntil})`
  return { session, token }
}

/** Closes the portal in this browser, because the customer has signed out. */
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

/** Deletes the customer's sessions, so that their portals close. */
export async function removeCustomerSessions(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from customer_sessions
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** Deletes sessions that expired before that instant, at most `rowsMax` of them. Returns the number of deleted sessions. */
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

/** Returns the status of the session at that instant. */
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
    issuedBy: row.issued_by,
    locale: row.locale,
    status: row.status,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
