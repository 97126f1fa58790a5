import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import { environments, type Environment } from '@tollgate/schemas/environment'

/*
 * Each page that is open has a cookie of its own, named for it: two accounts in one browser do not get into each
 * other's way, and a form of one is never sent in the name of the other.
 */

/** Names a session in addresses and cookies without letting anybody in. */
export function handleOf(sessionId: string): string {
  return createHash('sha256').update(`page ${sessionId}`).digest('hex').slice(0, 20)
}

export function cookieOptions(path: string, isSecure: boolean): CookieSerializeOptions {
  // Lax: whoever comes back from a bank's page is still known.
  return { path, httpOnly: true, sameSite: 'lax', secure: isSecure }
}

/** The environment is part of it, so that no other one is asked. */
export function writeCookie(environment: Environment, token: string): string {
  return `${environment}.${token}`
}

export function parseCookie(
  value: string | undefined,
): { readonly environment: Environment; readonly token: string } | undefined {
  const [name, token] = value?.split('.', 2) ?? []
  const environment = environments.find((each) => each === name)
  return environment === undefined || !token ? undefined : { environment, token }
}

/** What every form of an open page carries: other sites can send forms to us, but cannot know this. */
export function formTokenOf(cookieToken: string): string {
  return createHmac('sha256', cookieToken).update('form').digest('base64url')
}

export function isFormToken(cookieToken: string, given: unknown): boolean {
  if (typeof given !== 'string') return false
  const [expected, actual] = [formTokenOf(cookieToken), given].map((text) =>
    createHash('sha256').update(text).digest(),
  ) as [Buffer, Buffer]
  return timingSafeEqual(expected, actual)
}
