import type { Page } from 'playwright-core'
import { jobActor } from '@tollgate/domain/audit/actor'
import { inviteUser } from '@tollgate/domain/console/manage-users'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { Stack } from '../stack.ts'

const password = 'correct horse battery'

/** Reduces the time of a password hash to a few milliseconds. */
export const quickPasswords = { TOLLGATE_CONSOLE_PASSWORD_COST: '10' }

/** Creates a user of the provider, with the password of all users here. */
export async function createConsoleUser(
  stack: Stack,
  providerId: string,
  { email, name, role }: { email: string; name: string; role: ConsoleRole },
): Promise<void> {
  const management = {
    ...{ database: stack.database, providerId, actorId: undefined },
    ...{ actor: jobActor('test'), now: new Date() },
  }
  const outcome = await inviteUser(management, { email, name, role }, 3_600_000)
  if (outcome.kind !== 'invited') throw new Error(`not invited: ${outcome.kind}`)
  const response = await fetch(`${stack.baseUrl}/v1/ui/auth/password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: outcome.link.token, password }),
  })
  if (!response.ok) throw new Error(`the password was not set: ${response.status}`)
}

/** Signs in on the page to which the console led the visitor. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
