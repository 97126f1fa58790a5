import type { Sql } from 'postgres'

/** Milliseconds after which inbox messages are deleted. Their codes have expired long before. */
const inboxMs = 24 * 3_600_000

const rowsPerStatement = 1_000

/** Deletes expired rows in batches. Returns how many were deleted. Several processes may do this at once. */
export async function purgeCustomerAuth(sql: Sql, now: Date): Promise<number> {
  const inboxBefore = new Date(now.getTime() - inboxMs)
  const expired = [
    ['oauth_records', 'record_sha256', 'expires_at', now],
    ['oauth_access_tokens', 'jti', 'expires_at', now],
    ['oauth_revoked_tokens', 'jti', 'expires_at', now],
    ['customer_sign_ins', 'browser_sha256', 'expires_at', now],
    ['customer_upstream_sign_ins', 'state_sha256', 'expires_at', now],
    ['customer_browser_sessions', 'token_sha256', 'expires_at', now],
    ['customer_links', 'link_sha256', 'expires_at', new Date(now.getTime() - inboxMs)],
    ['inbox_messages', 'message_id', 'created_at', inboxBefore],
  ] as const
  let purged = 0
  for (const [table, key, column, before] of expired) {
    purged += await purgeTable(sql, { table, key, column, before })
  }
  const attempts = await sql`delete from customer_auth_attempts where window_ends_at <= ${now}`
  return purged + attempts.count
}

async function purgeTable(
  sql: Sql,
  of: {
    readonly table: string
    readonly key: string
    readonly column: string
    readonly before: Date
  },
): Promise<number> {
  const { table, key, column, before } = of
  let purged = 0
  for (;;) {
    const rows = await sql`
      delete from ${sql(table)} where ${sql(key)} in (
        select ${sql(key)} from ${sql(table)} where ${sql(column)} <= ${before}
        order by ${sql(column)} limit ${rowsPerStatement})`
    purged += rows.count
    if (rows.count < rowsPerStatement) return purged
  }
}
