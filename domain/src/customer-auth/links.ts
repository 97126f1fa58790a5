import { randomBytes } from 'node:crypto'
import type { Database } from '@tollgate/platform/database/database'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { digestOfParts } from './digest.ts'

export const linkPurposes = ['checkout', 'topup', 'portal'] as const

export type LinkPurpose = (typeof linkPurposes)[number]

/** A link to a checkout, a top-up or the portal, for one customer only. */
export type CustomerLink = {
  /** The customer's own reference. */
  readonly customerRef: string
  /** Null for the portal of all products. */
  readonly productRef: string | null
  readonly purpose: LinkPurpose
  /** Null if the customer chooses the plan. */
  readonly planRef: string | null
}

export type PlacedLink = CustomerLink & {
  readonly environment: Environment
  readonly providerId: string
  readonly status: 'open' | 'used' | 'expired'
}

/**
 * Creates a link and returns the id at the end of its URL. The link requires a sign-in, and its id cannot be guessed
 * either. It leads to its page once.
 */
export async function createLink(
  { sql, providerId, now }: UnitOfWork,
  { customerRef, productRef, purpose, planRef }: CustomerLink,
  expiresAt: Date,
): Promise<string> {
  const id = randomBytes(16).toString('base64url')
  await sql`
    insert into customer_links
      (provider_id, link_sha256, customer_ref, product_ref, purpose, plan_ref, expires_at,
       created_at)
    values (${providerId}, ${digestOfParts(id)}, ${customerRef}, ${productRef}, ${purpose},
      ${planRef}, ${expiresAt}, ${now})`
  return id
}

/**
 * Stores a link to the portal under the id, for an email that was sent with it. The link leads to the portal each time until it
 * expires, because people open emails again. If the id has a link already, it lasts until the new time.
 */
export async function storeEmailLink(
  { sql, providerId, now }: UnitOfWork,
  { id, customerRef }: { readonly id: string; readonly customerRef: string },
  expiresAt: Date,
): Promise<void> {
  await sql`
    insert into customer_links
      (provider_id, link_sha256, customer_ref, product_ref, purpose, is_reusable, expires_at, created_at)
    values (${providerId}, ${digestOfParts(id)}, ${customerRef}, null, 'portal', true, ${expiresAt}, ${now})
    on conflict (link_sha256) do update set expires_at = excluded.expires_at`
}

type LinkRow = {
  provider_id: string
  customer_ref: string
  product_ref: string | null
  purpose: LinkPurpose
  plan_ref: string | null
  used_at: Date | null
  expires_at: Date
}

/** Finds a link. The customer is not known yet, so `database` sees the links of all providers. */
export async function findLink(
  database: Database,
  id: string,
  now: Date,
): Promise<PlacedLink | undefined> {
  for (const environment of environments) {
    const [row] = await database.in(environment)<LinkRow[]>`
      select * from customer_links where link_sha256 = ${digestOfParts(id)}`
    if (row === undefined) continue
    return {
      environment,
      providerId: row.provider_id,
      customerRef: row.customer_ref,
      productRef: row.product_ref,
      purpose: row.purpose,
      planRef: row.plan_ref,
      status: statusOf(row, now),
    }
  }
  return undefined
}

function statusOf({ used_at: usedAt, expires_at: expiresAt }: LinkRow, now: Date) {
  if (usedAt !== null) return 'used'
  return expiresAt <= now ? 'expired' : 'open'
}

/** Marks the link as used, unless it is reusable. Returns false if it was used before or has expired. */
export async function redeemLink(
  { sql, providerId, now }: UnitOfWork,
  id: string,
): Promise<boolean> {
  const rows = await sql`
    update customer_links set used_at = case when is_reusable then null else ${now}::timestamptz end
    where provider_id = ${providerId} and link_sha256 = ${digestOfParts(id)}
      and used_at is null and expires_at > ${now}
    returning 1`
  return rows.length === 1
}
