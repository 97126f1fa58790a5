import type { Queryable } from '@tollgate/platform/database/database'
import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../outbox/unix-seconds.ts'
import type { Plan } from '../plans/plan.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { checkoutPageUrl, drawSessionId, sessionMs } from './hosted-pages.ts'

export type CheckoutSession = {
  readonly sessionId: string
  readonly reference: string
  /** The customer's own reference. */
  readonly customerRef: string
  readonly purpose: 'product' | 'credit_topup'
  readonly productRef: string | null
  /** Null: the customer chooses. */
  readonly planRef: string | null
  readonly returnUrl: string | null
  readonly status: 'active' | 'used' | 'expired'
  /** Minor units of `currency`; null while the customer has not chosen. */
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
  status: CheckoutSession['status']
  amount: bigint | null
  currency: string | null
  expires_at: Date
  created_at: Date
  updated_at: Date
}

export type CheckoutRequest = {
  readonly customerRef: string
  readonly purpose: CheckoutSession['purpose']
  readonly productRef: string | null
  readonly plan: Plan | undefined
  readonly returnUrl: string | null
}

/** Opens a checkout and tells of it. */
export async function openCheckoutSession(
  work: UnitOfWork,
  hostedUrl: string,
  { plan, ...request }: CheckoutRequest,
): Promise<CheckoutSession> {
  const { now } = work
  const session: CheckoutSession = {
    ...request,
    sessionId: drawSessionId(),
    reference: drawReference('checkoutSession'),
    planRef: plan?.reference ?? null,
    status: 'active',
    amountMinor: plan === undefined ? null : firstChargeMinor(plan),
    currency: plan?.currency ?? null,
    expiresAt: new Date(now.getTime() + sessionMs),
    createdAt: now,
    updatedAt: now,
  }
  await insertCheckoutSession(work.sql, work.providerId, session)
  await recordEvent(work, 'checkout_session.created', checkoutObject(session, hostedUrl))
  return session
}

/** What is due before the plan starts. */
function firstChargeMinor(plan: Plan): number {
  const base = plan.type === 'hybrid' ? (plan.basePriceMinor ?? plan.priceMinor) : plan.priceMinor
  return base + (plan.setupFeeMinor ?? 0)
}

async function insertCheckoutSession(
  sql: Queryable,
  providerId: string,
  session: CheckoutSession,
): Promise<void> {
  await sql`
    insert into checkout_sessions
      (provider_id, session_id, reference, customer_ref, purpose, product_ref, plan_ref, return_url,
       status, amount, currency, expires_at, created_at, updated_at)
    values (${providerId}, ${session.sessionId}, ${session.reference}, ${session.customerRef},
      ${session.purpose}, ${session.productRef}, ${session.planRef}, ${session.returnUrl},
      ${session.status}, ${session.amountMinor}, ${session.currency}, ${session.expiresAt},
      ${session.createdAt}, ${session.updatedAt})`
}

export type PlacedCheckoutSession = {
  readonly providerId: string
  readonly session: CheckoutSession
}

/** Of any provider: nobody knows yet whose link it is. */
export async function placeCheckoutSession(
  sql: Queryable,
  sessionId: string,
): Promise<PlacedCheckoutSession | undefined> {
  const [row] = await sql<(CheckoutSessionRow & { provider_id: string })[]>`
    select * from checkout_sessions where session_id = ${sessionId}`
  return row === undefined ? undefined : { providerId: row.provider_id, session: fromRow(row) }
}

/**
 * Gives a checkout whose time is up the status that it has since then, and tells of it: once, whoever else looks. False:
 * there is nothing to tell.
 */
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

/** What was paid on it: minor units of the currency, and the plan that the customer has chosen. */
export type CheckoutResult = Pick<CheckoutSession, 'planRef' | 'amountMinor' | 'currency'>

/**
 * Uses the checkout up, and tells of it; nothing where it was used before. One that was told of as abandoned is completed
 * all the same: whoever opened the page in time may pay after that.
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

/** Nobody can pay on the customer's open checkouts any more: their time is up. */
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

/** What the session is at that instant. */
export function checkoutSessionStatus(
  { status, expiresAt }: CheckoutSession,
  now: Date,
): CheckoutSession['status'] {
  return status === 'active' && expiresAt <= now ? 'expired' : status
}

/** `data.object` of the checkout_session events. */
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
    status: row.status,
    amountMinor: row.amount === null ? null : Number(row.amount),
    currency: row.currency,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
