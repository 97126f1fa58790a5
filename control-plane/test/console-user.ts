import { jobActor } from '@tollgate/domain/audit/actor'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { Environment } from '@tollgate/schemas/environment'
import type { SignedInBody } from '@tollgate/schemas/http/console-auth'
import { inviteUser } from '@tollgate/domain/console/manage-users'
import type { Tenant, TestStack } from './test-stack.ts'

/** Reduces the time of a password hash to a few milliseconds. */
export const quickPasswords = { TOLLGATE_CONSOLE_PASSWORD_COST: '10' }

export const password = 'correct horse battery'

/** Creates a user as an operator does. Returns the token of the link to set the password. */
export async function inviteByOperator(
  stack: TestStack,
  { providerId }: Pick<Tenant, 'providerId'>,
  email: string,
  role: ConsoleRole = 'owner',
): Promise<{ userId: string; token: string }> {
  const now = new Date(stack.clock.now())
  const management = {
    database: stack.database,
    providerId,
    actorId: undefined,
    actor: jobActor('test'),
    now,
  }
  const outcome = await inviteUser(management, { email, name: null, role }, 3_600_000)
  if (outcome.kind !== 'invited') throw new Error(`not invited: ${outcome.kind}`)
  return { userId: outcome.user.userId, token: outcome.link.token }
}

/** Creates a user with the password above. */
export async function createUser(
  stack: TestStack,
  tenant: Pick<Tenant, 'providerId'>,
  email: string,
  role: ConsoleRole = 'owner',
): Promise<string> {
  const { userId, token } = await inviteByOperator(stack, tenant, email, role)
  const { status } = await stack.call(undefined, 'POST', '/v1/ui/auth/password', {
    token,
    password,
  })
  if (status !== 200) throw new Error(`the password was not set: ${status}`)
  return userId
}

export async function signIn(
  stack: TestStack,
  email: string,
  environment: Environment = 'sandbox',
): Promise<SignedInBody> {
  const given = { email, password, environment }
  const path = '/v1/ui/auth/sign-in'
  const { status, body } = await stack.call<SignedInBody>(undefined, 'POST', path, given)
  if (status !== 200) throw new Error(`not signed in: ${status}`)
  return body
}

/** Creates a user with the role, whose email begins with it. Returns the access token of the user for the sandbox. */
export async function signInAs(
  stack: TestStack,
  tenant: Pick<Tenant, 'providerId'>,
  role: ConsoleRole,
): Promise<string> {
  const email = `${role}@example.com`
  await createUser(stack, tenant, email, role)
  return (await signIn(stack, email)).accessToken
}
