import type { Queryable } from '@tollgate/platform/database/database'
import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { lockCustomer } from '../customers/repository.ts'
import { firstChargeMinor } from './first-charge.ts'
import { checkoutPageUrl, generateSessionId, sessionMs } from './hosted-pages.ts'
import type { HostedParts } from './hosted-parts.ts'
import { TooManySessionsError } from './too-many-sessions-error.ts'

export type CheckoutSession = {
  readonly sessionId: string
  readonly reference: string
  /** Reference of the customer. */
  readonly customerRef: string
  readonly purpose: 'product' | 'credit_topup'
  readonly productRef: string | null
  /** Reference of the plan; null until the customer chooses one. */
  readonly planRef: string | null
  readonly returnUrl: string | null
  /** The coupon that the checkout redeems; null for none. */
  readonly couponRef: string | null
  /** False if the checkout must not sell a plan that ends another purchase of the customer. */
  readonly mayChangePlan: boolean
  /** The actor who issued the session; null in rows of older versions. */
  readonly issuedBy: string | null
  /** The portal in which the checkout was opened; null if it was issued with a key. */
  readonly portalHandle: string | null
  /** A language with or without a region, such as `pt-BR`; null for the browser's language. */
  readonly locale: string | null
  /** Digest of the cookie of the only browser that sent a form of the checkout. See `claimCheckout` for its other values. */
  readonly browserSha256: string | null
  readonly status: 'active' | 'used' | 'expired'
  /** Amount in minor units of `currency`; null until the customer has chosen a plan. */
  readonly amountMinor: number | null
  readonly currency: string | null
  readonly expiresAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}

type CheckoutSessionRow = {
  session_id: string
  reference: string
  customer_ref: string
  purpose: CheckoutSession['purpose']
  product_ref: string | null
  plan_ref: string | null
  return_url: string | null
  coupon_ref: string | null
  may_change_plan: boolean
  issued_by: string | null
  portal_handle: string | null
  locale: string | null
  browser_sha256: string | null
  status: CheckoutSession['status']
  amount: bigint | null
  currency: string | null
  expires_at: Date
  created_at: Date
  updated_at: Date
}

/** An idempotency key, and the digest of its request. */
export type CheckoutKey = { readonly text: string; readonly inputSha256: string }

export type CheckoutRequest = {
  readonly customerRef: string
  readonly purpose: CheckoutSession['purpose']
  readonly productRef: string | null
  readonly plan: Plan | undefined
  readonly returnUrl: string | null
  readonly mayChangePlan: boolean
  /** The portal in which the checkout is opened. Default: none. */
  readonly portalHandle?: string | null
  /** Language of the page. Default: the browser's language. */
  readonly locale?: string | null
  /** The coupon that the checkout redeems. Default: none. */
  readonly couponRef?: string | null
  /** Idempotency key of the request. Default: none. */
  readonly key?: CheckoutKey
}

/**
 * Opens a checkout and emits its event. Throws a TooManySessionsError when the customer, or the portal session, has as many
 * open checkouts as allowed.
 */
export async function openCheckoutSession(
  work: UnitOfWork,
  hosted: HostedParts,
  request: CheckoutRequest,
): Promise<CheckoutSession> {
  const waitMs = await msUntilRoom(work, hosted.limits, request)
  if (waitMs !== undefined) throw new TooManySessionsError(waitMs)
  return insertAndEmit(work, hosted.hostedUrl, request)
}

async function insertAndEmit(
  work: UnitOfWork,
  hostedUrl: string,
  { plan, portalHandle = null, locale = null, couponRef = null, key, ...request }: CheckoutRequest,
): Promise<CheckoutSession> {
  const { now } = work
  const amountMinor = plan === undefined ? null : await firstChargeMinor(work, request, plan)
  const session: CheckoutSession = {
    ...request,
    ...{ portalHandle, locale, couponRef },
    browserSha256: null,
    issuedBy: work.actor.name,
    sessionId: generateSessionId(),
    reference: generateReference('checkoutSession'),
    planRef: plan?.reference ?? null,
    status: 'active',
    amountMinor,
    currency: plan?.currency ?? null,
    expiresAt: new Date(now.getTime() + sessionMs),
    createdAt: now,
    updatedAt: now,
  }
  await insertCheckoutSession(work.sql, work.providerId, session, key)
  await recordEvent(work, 'checkout_session.created', checkoutObject(session, hostedUrl))
  return session
}

/**
 * Returns undefined if one more checkout can be opened, otherwise the milliseconds until the first one expires. Locks the customer,
 * so that concurrent requests do not exceed the limit.
 */
async function msUntilRoom(
  { sql, providerId, now }: UnitOfWork,
  { openCheckoutsMax }: HostedParts['limits'],
  { customerRef, portalHandle = null }: CheckoutRequest,
): Promise<number | undefined> {
  await lockCustomer(sql, providerId, customerRef)
  const [open] = await sql<[{ count: number; first_expires_at: Date | null }]>`
    select count(*)::int as count, min(expires_at) as first_expires_at from checkout_sessions
    where provider_id = ${providerId} and customer_ref = ${customerRef} and status = 'active'
      and expires_at > ${now} and portal_handle is not distinct from ${portalHandle}`
  if (open.count < openCheckoutsMax) return undefined
  return (open.first_expires_at ?? now).getTime() - now.getTime()
}

/**
 * Opens a checkout for a request that only adds a link to its response. Returns the newest open checkout that the same actor issued
 * with the same terms, if at least half of its time is left, so that a polling client does not use up the customer's limit. If the
 * customer has the maximum of open checkouts, returns the newest one that leads to the same plan and has the same permission,
 * issued by any actor, or undefined.
 */
export async function reuseOrOpenCheckoutSession(
  work: UnitOfWork,
  hosted: HostedParts,
  request: Omit<CheckoutRequest, 'portalHandle' | 'locale' | 'key'>,
): Promise<CheckoutSession | undefined> {
  const { sql, providerId, now, actor } = work
  const { customerRef, purpose, productRef, plan, returnUrl, mayChangePlan } = request
  const planRef = plan?.reference ?? null
  const isAlike = sql`
    provider_id = ${providerId} and customer_ref = ${customerRef} and status = 'active'
    and purpose = ${purpose} and product_ref is not distinct from ${productRef}
    and may_change_plan = ${mayChangePlan} and portal_handle is null`
  const [fresh] = await sql<CheckoutSessionRow[]>`
    select * from checkout_sessions
    where ${isAlike} and expires_at > ${new Date(now.getTime() + sessionMs / 2)}
      and plan_ref is not distinct from ${planRef}
      and return_url is not distinct from ${returnUrl} and issued_by = ${actor.name}
    order by expires_at desc limit 1`
  if (fresh !== undefined) return fromRow(fresh)
  const waitMs = await msUntilRoom(work, hosted.limits, request)
  if (waitMs === undefined) return insertAndEmit(work, hosted.hostedUrl, request)
  // If no plan is requested, any plan matches. A checkout without a plan lets the customer choose it.
  const [open] = await sql<CheckoutSessionRow[]>`
    select * from checkout_sessions
    where ${isAlike} and expires_at > ${now}
      and (${planRef}::text is null or plan_ref is null or plan_ref = ${planRef})
    order by expires_at desc, session_id limit 1`
  return open === undefined ? undefined : fromRow(open)
}

async function insertCheckoutSession(
  sql: Queryable,
  providerId: string,
  session: CheckoutSession,
  key: CheckoutKey | undefined,
): Promise<void> {
  await sql`
    insert into checkout_sessions
      (provider_id, session_id, reference, customer_ref, purpose, product_ref, plan_ref, return_url,
       may_change_plan, issued_by, portal_handle, locale, status, amount, currency, expires_at, created_at,
       updated_at, coupon_ref, idempotency_key, input_sha256)
    values (${providerId}, ${session.sessionId}, ${session.reference}, ${session.customerRef},
      ${session.purpose}, ${session.productRef}, ${session.planRef}, ${session.returnUrl},
      ${session.mayChangePlan}, ${session.issuedBy}, ${session.portalHandle}, ${session.locale},
      ${session.status}, ${session.amountMinor}, ${session.currency}, ${session.expiresAt},
      ${session.createdAt}, ${session.updatedAt}, ${session.couponRef}, ${key?.text ?? null}, ${key?.inputSha256 ?? null})`
}

export type KeyedCheckoutOutcome =
  | { readonly kind: 'opened'; readonly session: CheckoutSession }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }

/** Returns the outcome of an earlier request with the same key, or undefined. */
export async function findCheckoutByKey(
  sql: Queryable,
  providerId: string,
  { text, inputSha256 }: CheckoutKey,
): Promise<KeyedCheckoutOutcome | undefined> {
  const [row] = await sql<(CheckoutSessionRow & { input_sha256: string })[]>`
    select * from checkout_sessions
    where provider_id = ${providerId} and idempotency_key = ${text}`
  if (row === undefined) return undefined
  if (row.input_sha256 !== inputSha256) return { kind: 'key-reused' }
  return { kind: 'opened', session: fromRow(row) }
}

export type LocatedCheckoutSession = {
  readonly providerId: string
  readonly session: CheckoutSession
}

/** Returns whether a checkout of the session must not sell a plan that ends another purchase. */
export async function isBoundCheckout(
  sql: Queryable,
  providerId: string,
  sessionId: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from checkout_sessions
    where provider_id = ${providerId} and session_id = ${sessionId} and not may_change_plan`
  return rows.length > 0
}

/** Returns a checkout and its provider, looked up across all providers, because the link does not name one. */
export async function locateCheckoutSession(
  sql: Queryable,
  sessionId: string,
): Promise<LocatedCheckoutSession | undefined> {
  const [row] = await sql<(CheckoutSessionRow & { provider_id: string })[]>`
    select * from checkout_sessions where session_id = ${sessionId}`
  return row === undefined ? undefined : { providerId: row.provider_id, session: fromRow(row) }
}

/** Marks a checkout as expired if its time is over, and emits the event once. Returns false if there was nothing to mark. */
export async function expireCheckoutSession(
  work: UnitOfWork,
  hostedUrl: string,
  sessionId: string,
): Promise<boolean> {
  const [row] = await work.sql<CheckoutSessionRow[]>`
    update checkout_sessions set status = 'expired', updated_at = ${work.now}
    where provider_id = ${work.providerId} and session_id = ${sessionId}
      and status = 'active' and expires_at <= ${work.now}
    returning *`
  if (row === undefined) return false
  await recordEvent(work, 'checkout_session.expired', checkoutObject(fromRow(row), hostedUrl))
  return true
}

/**
 * Records that a browser has sent a form that may complete the checkout. `browserSha256` is the digest of the browser's cookie.
 * After forms from two browsers the checkout belongs to neither of them, because anyone with the link can send a form while the
 * customer pays in another browser.
 */
export async function claimCheckout(
  sql: Queryable,
  providerId: string,
  sessionId: string,
  browserSha256: string,
): Promise<void> {
  await sql`
    update checkout_sessions
    set browser_sha256 = case when browser_sha256 is null then ${browserSha256} else ${severalBrowsers} end
    where provider_id = ${providerId} and session_id = ${sessionId} and status <> 'used'
      and (browser_sha256 is null or browser_sha256 not in (${browserSha256}, ${openedPortal}))`
}

/**
 * Records that the browser opens the portal. Returns false if it did so before, or if it is not the only browser that has sent a
 * form.
 */
export async function recordPortalOpening(
  sql: Queryable,
  providerId: string,
  { reference, browserSha256 }: Pick<CheckoutSession, 'reference' | 'browserSha256'>,
): Promise<boolean> {
  const used = await sql`
    update checkout_sessions set browser_sha256 = ${openedPortal}
    where provider_id = ${providerId} and reference = ${reference}
      and browser_sha256 = ${browserSha256}`
  return used.count === 1
}

/* Values that are not the digest of a cookie. */
const severalBrowsers = 'several'
const openedPortal = 'opened'

/** Result of a payment on a checkout: the amount in minor units of the currency, and the plan that the customer has chosen. */
export type CheckoutResult = Pick<CheckoutSession, 'planRef' | 'amountMinor' | 'currency'>

/**
 * Completes the checkout and emits its event. Does nothing if it was completed before. An expired checkout is completed too,
 * because a customer who opened the page in time may pay later.
 */
export async function completeCheckoutSession(
  work: UnitOfWork,
  hostedUrl: string,
  sessionId: string,
  { planRef, amountMinor, currency }: CheckoutResult,
): Promise<void> {
  const { sql, providerId, now } = work
  const [row] = await sql<CheckoutSessionRow[]>`
    update checkout_sessions set status = 'used', plan_ref = ${planRef}, amount = ${amountMinor},
      currency = ${currency}, updated_at = ${now}
    where provider_id = ${providerId} and session_id = ${sessionId} and status <> 'used'
    returning *`
  if (row === undefined) return
  await recordEvent(work, 'checkout_session.completed', checkoutObject(fromRow(row), hostedUrl))
}

/** Expires the customer's open checkouts, so that they no longer accept payments. */
export async function endCheckoutSessions(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update checkout_sessions set expires_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and status = 'active'
      and expires_at > ${now}`
}

/** Returns the status of the session at that instant. */
export function checkoutSessionStatus(
  { status, expiresAt }: CheckoutSession,
  now: Date,
): CheckoutSession['status'] {
  return status === 'active' && expiresAt <= now ? 'expired' : status
}

/** Returns `data.object` of the checkout_session events. */
function checkoutObject(
  session: CheckoutSession,
  hostedUrl: string,
): EventObject<'checkout_session.created'> {
  return {
    id: session.reference,
    session_id: session.sessionId,
    url: checkoutPageUrl(hostedUrl, session.sessionId),
    status: session.status,
    amount: session.amountMinor,
    currency: session.currency?.toLowerCase() ?? null,
    customer: session.customerRef,
    product: session.productRef,
    plan: session.planRef,
    expires_at: unixSeconds(session.expiresAt),
    created: unixSeconds(session.createdAt),
  }
}

function fromRow(row: CheckoutSessionRow): CheckoutSession {
  return {
    sessionId: row.session_id,
    reference: row.reference,
    customerRef: row.customer_ref,
    purpose: row.purpose,
    productRef: row.product_ref,
    planRef: row.plan_ref,
    returnUrl: row.return_url,
    couponRef: row.coupon_ref,
    mayChangePlan: row.may_change_plan,
    issuedBy: row.issued_by,
    portalHandle: row.portal_handle,
    locale: row.locale,
    browserSha256: row.browser_sha256,
    status: row.status,
    amountMinor: row.amount === null ? null : Number(row.amount),
    currency: row.currency,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
