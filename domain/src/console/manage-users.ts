import type { TransactionSql } from 'postgres'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import {
  refuseUserChange,
  type UserChange,
  type UserChangeRefusal,
} from '@tollgate/schemas/refuse-user-change'
import { setActor, type Actor } from '../audit/actor.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { deleteAccessTokens } from './access-tokens.ts'
import { generateToken, sha256OfToken } from './tokens.ts'
import {
  deleteConsoleUser,
  insertConsoleUser,
  lockConsoleUsers,
  setPasswordLink,
  updateConsoleUser,
  type ConsoleUser,
} from './users.ts'

/** The provider and the time of a change of users, and the user who makes it. */
export type UserManagement = {
  readonly database: ProviderDatabases
  readonly providerId: string
  /** Undefined for an operator of the installation. */
  readonly actorId: string | undefined
  /** Actor for the audit log. */
  readonly actor: Actor
  readonly now: Date
}

export type Refused = { readonly kind: UserChangeRefusal }

/** A one-time link. The token cannot be read again later, because only its hash is stored. */
export type PasswordLink = { readonly token: string; readonly expiresAt: Date }

export type InviteOutcome =
  | { readonly kind: 'invited'; readonly user: ConsoleUser; readonly link: PasswordLink }
  | { readonly kind: 'email-taken' }
  | Refused

export function inviteUser(
  management: UserManagement,
  fields: { readonly email: string; readonly name: string | null; readonly role: ConsoleRole },
  linkMs: number,
): Promise<InviteOutcome> {
  const { providerId, now } = management
  return changeUsers(management, { kind: 'invite', role: fields.role }, async (sql) => {
    const user: ConsoleUser = {
      ...fields,
      providerId,
      userId: generateReference('consoleUser'),
      passwordHash: null,
      isLinked: false,
      linkExpiresAt: null,
      createdAt: now,
    }
    if (!(await insertConsoleUser(sql, user))) return { kind: 'email-taken' }
    return { kind: 'invited', user, link: await issueLink(sql, user, linkMs, now) }
  })
}

export type LinkOutcome =
  { readonly kind: 'linked'; readonly user: ConsoleUser; readonly link: PasswordLink } | Refused

/**
 * Issues a new link for a user who has forgotten the password or let the first link expire. The current password works
 * until the link is used.
 */
export function issuePasswordLink(
  management: UserManagement,
  userId: string,
  linkMs: number,
): Promise<LinkOutcome> {
  return changeUsers(management, { kind: 'send-link', userId }, async (sql, users) => {
    const user = requireUser(users, userId)
    return { kind: 'linked', user, link: await issueLink(sql, user, linkMs, management.now) }
  })
}

export type UpdateOutcome = { readonly kind: 'updated'; readonly user: ConsoleUser } | Refused

/** Changes a user's name or role. A new role applies from the user's next request on. */
export function changeUser(
  management: UserManagement,
  userId: string,
  fields: { readonly name?: string | undefined; readonly role?: ConsoleRole | undefined },
): Promise<UpdateOutcome> {
  const { role } = fields
  return changeUsers(management, { kind: 'update', userId, role }, async (sql, users) => {
    const old = requireUser(users, userId)
    const user = { ...old, name: fields.name ?? old.name, role: role ?? old.role }
    await updateConsoleUser(sql, user, management.now)
    return { kind: 'updated', user }
  })
}

export type RemoveOutcome = { readonly kind: 'removed' } | Refused

/** Removes a user. The user's tokens are refused from the next request on. */
export function removeUser(management: UserManagement, userId: string): Promise<RemoveOutcome> {
  return changeUsers(management, { kind: 'remove', userId }, async (sql, users) => {
    const user = requireUser(users, userId)
    await deleteAccessTokens(sql, user)
    await deleteConsoleUser(sql, user)
    return { kind: 'removed' }
  })
}

async function changeUsers<Outcome>(
  { database, providerId, actorId, actor }: UserManagement,
  change: UserChange,
  act: (sql: TransactionSql, users: readonly ConsoleUser[]) => Promise<Outcome>,
): Promise<Outcome | Refused> {
  return database.of(providerId).control.write(async (sql): Promise<Outcome | Refused> => {
    setActor(sql, actor)
    const users = await lockConsoleUsers(sql, providerId)
    const refusal = refuseUserChange(users, actorId, change)
    return refusal === undefined ? act(sql, users) : { kind: refusal }
  })
}

function requireUser(users: readonly ConsoleUser[], userId: string): ConsoleUser {
  const user = users.find((each) => each.userId === userId)
  if (user === undefined) throw new Error(`console user ${userId} does not exist`)
  return user
}

async function issueLink(
  sql: TransactionSql,
  user: ConsoleUser,
  linkMs: number,
  now: Date,
): Promise<PasswordLink> {
  const link = { token: generateToken(), expiresAt: new Date(now.getTime() + linkMs) }
  const stored = { sha256: sha256OfToken(link.token), expiresAt: link.expiresAt }
  await setPasswordLink(sql, user, stored, now)
  return link
}
