import type { PendingQuery } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'

export type ConsoleUser = {
  readonly userId: string
  readonly providerId: string
  readonly email: string
  readonly name: string | null
  readonly role: ConsoleRole
  /** Null until an invited user sets a password. */
  readonly passwordHash: string | null
  /** Whether the user has signed in with an account at the OpenID Connect issuer. */
  readonly isLinked: boolean
  /** Expiry of the one-time link that sets the password. */
  readonly linkExpiresAt: Date | null
  readonly createdAt: Date
}

/** A row of the table `console_users`. */
export type ConsoleUserRow = {
  user_id: string
  provider_id: string
  email: string
  name: string | null
  role: ConsoleRole
  password_hash: string | null
  is_linked: boolean
  link_expires_at: Date | null
  created_at: Date
}

/** Returns the columns of a user. */
export function userColumns(sql: Queryable): PendingQuery<ConsoleUserRow[]> {
  return sql<ConsoleUserRow[]>`
    console_users.*, exists (
      select from console_identities as account
      where account.provider_id = console_users.provider_id and account.user_id = console_users.user_id
    ) as is_linked`
}

/** Returns false and does nothing if the provider has a user with this email address. */
export async function insertConsoleUser(sql: Queryable, user: ConsoleUser): Promise<boolean> {
  const { providerId, userId, email, name, role, createdAt } = user
  const inserted = await sql`
    insert into console_users (provider_id, user_id, email, name, role, created_at, updated_at)
    values (${providerId}, ${userId}, ${email}, ${name}, ${role}, ${createdAt}, ${createdAt})
    on conflict (provider_id, email_key) do nothing`
  return inserted.count === 1
}

export async function listConsoleUsers(sql: Queryable, providerId: string): Promise<ConsoleUser[]> {
  const rows = await sql<ConsoleUserRow[]>`
    select ${userColumns(sql)} from console_users where provider_id = ${providerId} order by created_at, user_id`
  return rows.map(userFromRow)
}

/**
 * Locks and returns all users of the provider. Changes are decided on the whole list, and the lock makes them run one
 * after the other.
 */
export async function lockConsoleUsers(sql: Queryable, providerId: string): Promise<ConsoleUser[]> {
  await sql`select 1 from providers where provider_id = ${providerId} for no key update`
  return listConsoleUsers(sql, providerId)
}

/**
 * Locks one user until the transaction ends. Returns undefined if the user was removed. All code that issues or ends
 * tokens of a user takes this lock, so ending tokens also ends those that were being issued.
 */
export async function lockConsoleUser(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
): Promise<ConsoleUser | undefined> {
  const [row] = await sql<ConsoleUserRow[]>`
    select ${userColumns(sql)} from console_users where provider_id = ${providerId} and user_id = ${userId}
    for no key update`
  return row === undefined ? undefined : userFromRow(row)
}

/** Returns the users of all providers with this email address. */
export async function listConsoleUsersByEmail(
  sql: Queryable,
  email: string,
): Promise<ConsoleUser[]> {
  const rows = await sql<ConsoleUserRow[]>`
    select ${userColumns(sql)} from console_users where email_key = lower(${email}) order by created_at, user_id`
  return rows.map(userFromRow)
}

/** Finds the user of a one-time link, at any provider. */
export async function findConsoleUserByLink(
  sql: Queryable,
  linkSha256: string,
): Promise<ConsoleUser | undefined> {
  const [row] = await sql<ConsoleUserRow[]>`
    select ${userColumns(sql)} from console_users where link_sha256 = ${linkSha256}`
  return row === undefined ? undefined : userFromRow(row)
}

export async function updateConsoleUser(
  sql: Queryable,
  { providerId, userId, name, role }: ConsoleUser,
  now: Date,
): Promise<void> {
  await sql`
    update console_users set name = ${name}, role = ${role}, updated_at = ${now}
    where provider_id = ${providerId} and user_id = ${userId}`
}

/** Sets a new one-time link, which replaces the previous one. */
export async function setPasswordLink(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
  link: { readonly sha256: string; readonly expiresAt: Date },
  now: Date,
): Promise<void> {
  await sql`
    update console_users
    set link_sha256 = ${link.sha256}, link_expires_at = ${link.expiresAt}, updated_at = ${now}
    where provider_id = ${providerId} and user_id = ${userId}`
}

export async function endPasswordLink(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
): Promise<void> {
  await sql`
    update console_users set link_sha256 = null, link_expires_at = null
    where provider_id = ${providerId} and user_id = ${userId} and link_sha256 is not null`
}

/** Sets the password and ends the one-time link. */
export async function setPasswordHash(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
  passwordHash: string,
  now: Date,
): Promise<void> {
  await sql`
    update console_users set password_hash = ${passwordHash}, link_sha256 = null,
      link_expires_at = null, updated_at = ${now}
    where provider_id = ${providerId} and user_id = ${userId}`
}

/** Deletes the user. The database deletes the access tokens of the user with it. */
export async function deleteConsoleUser(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
): Promise<void> {
  await sql`
    delete from console_users where provider_id = ${providerId} and user_id = ${userId}`
}

export type ConsoleUserKey = Pick<ConsoleUser, 'providerId' | 'userId'>

export function userFromRow(row: ConsoleUserRow): ConsoleUser {
  return {
    userId: row.user_id,
    providerId: row.provider_id,
    email: row.email,
    name: row.name,
    role: row.role,
    passwordHash: row.password_hash,
    isLinked: row.is_linked,
    linkExpiresAt: row.link_expires_at,
    createdAt: row.created_at,
  }
}

/** Returns whether the user has a way to sign in: a password, or an account at the issuer. */
export function hasSignIn({ passwordHash, isLinked }: ConsoleUser): boolean {
  return passwordHash !== null || isLinked
}
