import { setPasswordPageUrl } from '@tollgate/domain/console/console-pages'
import {
  inviteUser,
  issuePasswordLink,
  removeUser,
  type PasswordLink,
  type UserManagement,
} from '@tollgate/domain/console/manage-users'
import { hasSignIn, listConsoleUsers, type ConsoleUser } from '@tollgate/domain/console/users'
import { findProvider } from '@tollgate/domain/providers/repository'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { formatTable } from '@tollgate/platform/terminal/table'
import { consoleRoles } from '@tollgate/schemas/console-roles'
import type { UserChangeRefusal } from '@tollgate/schemas/refuse-user-change'
import type { CliParts } from './open-cli-parts.ts'
import { providerNotFound, requireEmail } from './provider-commands.ts'

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
  if (role === undefined) throw new CliError(`--role must be one of ${consoleRoles.join(', ')}.`)
  requireEmail(options.email)
  const management = await userManagementOf(parts, options, 'user create')
  const fields = { email: options.email, name: options.name ?? null, role }
  const outcome = await inviteUser(management, fields, parts.passwordLinkMs)
  switch (outcome.kind) {
    case 'invited':
      return showPasswordLink(parts, outcome.user, outcome.link)
    case 'email-taken':
      throw new CliError(
        `This provider already has a user ${options.email}. For a new link: tollgate user link <userId>`,
      )
    default:
      throw userChangeError(outcome.kind)
  }
}

export async function linkUserCommand(
  parts: CliParts,
  userId: string,
  options: UserOptions,
): Promise<void> {
  const management = await userManagementOf(parts, options, 'user link')
  const outcome = await issuePasswordLink(management, userId, parts.passwordLinkMs)
  if (outcome.kind !== 'linked') throw userChangeError(outcome.kind, userId)
  showPasswordLink(parts, { userId }, outcome.link)
}

export async function removeUserCommand(
  parts: CliParts,
  userId: string,
  options: UserOptions,
): Promise<void> {
  const outcome = await removeUser(await userManagementOf(parts, options, 'user remove'), userId)
  if (outcome.kind !== 'removed') throw userChangeError(outcome.kind, userId)
  parts.output.show({ json: { userId, state: 'removed' }, text: [`Removed user ${userId}.`] })
}

export async function listUsersCommand(parts: CliParts, options: UserOptions): Promise<void> {
  const { providerId } = await userManagementOf(parts, options, 'user list')
  const users = await listConsoleUsers(parts.database.control, providerId)
  const shapes = users.map((user) => {
    const { userId, email, name, role } = user
    return { userId, email, name, role, state: hasSignIn(user) ? 'active' : 'invited' }
  })
  const rows = shapes.map(({ userId, email, name, role, state }) => [
    userId,
    role,
    state,
    email,
    name ?? '',
  ])
  parts.output.show({
    json: shapes,
    text:
      users.length === 0
        ? ['No users yet. Create one: tollgate user create']
        : [formatTable(['ID', 'ROLE', 'STATE', 'EMAIL', 'NAME'], rows)],
    quiet: shapes.map(({ userId }) => userId),
  })
}

async function userManagementOf(
  { database, now, actorOf }: CliParts,
  { provider }: UserOptions,
  command: string,
): Promise<UserManagement> {
  if ((await findProvider(database.control, provider)) === undefined)
    throw providerNotFound(provider)
  return { database, providerId: provider, actorId: undefined, actor: actorOf(command), now: now() }
}

function userChangeError(kind: UserChangeRefusal, userId = ''): CliError {
  switch (kind) {
    case 'not-found':
      return new CliError(
        `This provider has no user ${userId}. See: tollgate user list --provider <providerId>`,
      )
    case 'last-owner':
      return new CliError('A provider keeps at least one owner. Create another owner first.')
    case 'role-too-low':
      throw new Error('an operator may change every user')
  }
}

type LinkedUser = { readonly userId: string } & Partial<
  Pick<ConsoleUser, 'email' | 'name' | 'role'>
>

function showPasswordLink(
  { output, hostedUrl }: CliParts,
  { userId, email, name, role }: LinkedUser,
  { token, expiresAt }: PasswordLink,
): void {
  const url = setPasswordPageUrl(hostedUrl, token)
  const until = expiresAt.toISOString()
  const isNew = email !== undefined
  output.show({
    json: { userId, ...(isNew && { email, name, role }), passwordUrl: url, expiresAt: until },
    text: [
      isNew ? `Created user ${userId} (${email}, ${role}).` : `New link for user ${userId}.`,
      url,
      `Open it once, before ${until}, to set the password.`,
    ],
    quiet: [url],
  })
}
