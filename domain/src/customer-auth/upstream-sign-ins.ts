import type { Database, Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import { digestOfParts } from './digest.ts'

/** How long a browser may stay at the upstream, in milliseconds. */
export const upstreamSignInMs = 10 * 60_000

/** A sign-in for which a browser was sent to an upstream, such as `google`. */
export type UpstreamSignIn = {
  readonly state: string
  /** Token of the browser's cookie. */
  readonly browserToken: string
  readonly upstream: string
  /** Path of the page to which the browser returns. */
  readonly pagePath: string
}

/** Stores the sign-in. If the process crashes after this, the row expires. */
export async function saveUpstreamSignIn(
  sql: Queryable,
  providerId: string,
  { state, browserToken, upstream, pagePath }: UpstreamSignIn,
  now: Date,
): Promise<void> {
  const row = {
    provider_id: providerId,
    state_sha256: digestOfParts(browserToken, state),
    upstream,
    page_path: pagePath,
    expires_at: new Date(now.getTime() + upstreamSignInMs),
    created_at: now,
  }
  await sql`insert into customer_upstream_sign_ins ${sql(row)}`
}

/**
 * Ends the sign-in that belongs to the state in this browser. Returns undefined if there is none: it was used before,
 * has expired, or was started in another browser or at another upstream. The provider is not known yet, so `database`
 * sees the rows of all providers. After a crash, the person must start again. A state is never accepted twice.
 */
export async function useUpstreamSignIn(
  database: Database,
  environment: Environment,
  { state, browserToken, upstream }: Omit<UpstreamSignIn, 'pagePath'>,
  now: Date,
): Promise<{ readonly providerId: string; readonly pagePath: string } | undefined> {
  const [row] = await database.in(environment)<{ provider_id: string; page_path: string }[]>`
    delete from customer_upstream_sign_ins
    where state_sha256 = ${digestOfParts(browserToken, state)} and upstream = ${upstream}
      and expires_at > ${now}
    returning provider_id, page_path`
  return row && { providerId: row.provider_id, pagePath: row.page_path }
}
