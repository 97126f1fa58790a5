import { setPasswordPageUrl } from '@tollgate/domain/console/console-pages'
import type { UserChangeRefusal } from '@tollgate/domain/console/decide-user-change'
import {
  inviteUser,
  issuePasswordLink,
  removeUser,
  type PasswordLink,
  type UserManagement,
} from '@tollgate/domain/console/manage-users'
import { listConsoleUsers } from '@tollgate/domain/console/users'
import { findProvider } from '@tollgate/domain/providers/repository'
import { consoleRoles } from '@tollgate/schemas/console-roles'
import { emailText } from '@tollgate/schemas/http/fields'
import { CliError } from './cli-error.ts'
import type { CliParts } from './open-cli-parts.ts'

export type UserCreateOptions = {
  readonly provider: string
  readonly email: string
  readonly name?: string
  readonly role: string
}

type UserOptions = { readonly provider: string }

export async function createUserCommand(
  parts: CliParts,
  options: UserCreateOptions,
): Promise<void> {
  const role = consoleRoles.find((each) => each === options.role)
  if (role === undefined) throw new CliError(`--role must be one of ${consoleRoles.join(', ')}`)
  if (!emailText.safeParse(options.email).success) {
    throw new CliError(`--email ${options.email} is not an email address`)
  }
  const management = await operatorOf(parts, options, 'user create')
  const fields = { email: options.email, name: options.name ?? null, role }
  const outcome = await inviteUser(management, fields, parts.passwordLinkMs)
  switch (outcome.kind) {
    case 'invited':
      parts.print(`user ${outcome.user.userId}  ${outcome.user.email}  ${role}`)
      return printLink(parts, outcome.link)
    case 'email-taken':
      throw new CliError(`there is a user ${options.email} of this provider`)
    default:
      throw refusalOf(outcome.kind)
  }
}

export async function linkUserCommand(
  parts: CliParts,
  userId: string,
  options: UserOptions,
): Promise<void> {
  const management = await operatorOf(parts, options, 'user link')
  const outcome = await issuePasswordLink(management, userId, parts.passwordLinkMs)
  if (outcome.kind !== 'linked') throw refusalOf(outcome.kind, userId)
  printLink(parts, outcome.link)
}

export async function removeUserCommand(
  parts: CliParts,
  userId: string,
  options: UserOptions,
): Promise<void> {
  const outcome = await removeUser(await operatorOf(parts, options, 'user remove'), userId)
  if (outcome.kind !== 'removed') throw refusalOf(outcome.kind, userId)
  parts.print(`user ${userId} is removed`)
}

export async function listUsersCommand(parts: CliParts, options: UserOptions): Promise<void> {
  const { providerId } = await operatorOf(parts, options, 'user list')
  const users = await listConsoleUsers(parts.database.control, providerId)
  if (users.length === 0) parts.print('no users yet')
  for (const { userId, email, role, name, passwordHash } of users) {
    const state = passwordHash === null ? 'invited' : 'active'
    parts.print([userId, role, state, email, name ?? ''].join('  ').trimEnd())
  }
}

async function operatorOf(
  { database, now, actorOf }: CliParts,
  { provider }: UserOptions,
  command: string,
): Promise<UserManagement> {
  const found = await findProvider(database.control, provider)
  if (found === undefined) throw new CliError(`there is no provider ${provider}`)
  return { database, providerId: provider, actorId: undefined, actor: actorOf(command), now: now() }
}

function refusalOf(kind: UserChangeRefusal, userId = ''): CliError {
  switch (kind) {
    case 'not-found':
      return new CliError(`this provider has no user ${userId}`)
    case 'last-owner':
      return new CliError('a provider keeps at least one owner')
    case 'role-too-low':
      throw new Error('an operator may change every user')
  }
}

function printLink(parts: CliParts, { token, expiresAt }: PasswordLink): void {
  parts.print(setPasswordPageUrl(parts.hostedUrl, token))
  parts.print(`Follow it once, before ${expiresAt.toISOString()}, to set the password.`)
}
