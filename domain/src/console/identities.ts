import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import {
  endPasswordLink,
  userColumns,
  userFromRow,
  type ConsoleUser,
  type ConsoleUserKey,
  type ConsoleUserRow,
} from './users.ts'

/** An account at an OpenID Connect issuer. */
export type ConsoleIdentity = {
  readonly issuer: string
  /** The issuer's name for the account, which it never gives to another one. */
  readonly subject: string
}

/**
 * Returns the users whom the account signs in, at most one per provider: those that are linked to it, and those with its verified
 * email address at providers where neither the user nor the account is linked.
 */
export async function listUsersOfIdentity(
  sql: Queryable,
  { issuer, subject }: ConsoleIdentity,
  verifiedEmail: string | undefined,
): Promise<ConsoleUser[]> {
  const rows = await sql<ConsoleUserRow[]>`
    select ${userColumns(sql)} from console_users
    left join console_identities as own
      on own.provider_id = console_users.provider_id and own.user_id = console_users.user_id
      and own.issuer = ${issuer}
    left join console_identities as linked
      on linked.provider_id = console_users.provider_id
      and linked.issuer = ${issuer} and linked.subject = ${subject}
    where linked.user_id = console_users.user_id
      or (linked.user_id is null and own.user_id is null
        and email_key = lower(${verifiedEmail ?? null}))
    order by console_users.created_at, console_users.user_id`
  return rows.map(userFromRow)
}

/**
 * Links the account to the user, and ends a link to set a password, which the user does not need. The caller has locked the user. Returns false if the user or the account was linked to another one
 * in the meantime.
 */
export async function linkIdentity(
  sql: TransactionSql,
  { providerId, userId }: ConsoleUserKey,
  { issuer, subject }: ConsoleIdentity,
  now: Date,
): Promise<boolean> {
  await sql`
    insert into console_identities (provider_id, user_id, issuer, subject, created_at)
    values (${providerId}, ${userId}, ${issuer}, ${subject}, ${now})
    on conflict do nothing`
  const linked = await sql`
    select 1 from console_identities
    where provider_id = ${providerId} and user_id = ${userId} and issuer = ${issuer}
      and subject = ${subject}`
  if (linked.length === 0) return false
  // Whoever else got the link of the invitation could set a password for this user.
  await endPasswordLink(sql, { providerId, userId })
  return true
}
