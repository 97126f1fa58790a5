import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import { environmentNamed, type Environment } from '@tollgate/schemas/environment'

/*
 * Each open page has a cookie with its own name. Two accounts in one browser therefore do not interfere, and a form of one account
 * is never sent with the cookie of the other.
 */

/** Returns a name for a session in addresses and cookies. The name grants no access. */
export function handleOf(sessionId: string): string {
  return createHash('sha256').update(`page ${sessionId}`).digest('hex').slice(0, 20)
}

export function cookieOptions(path: string, isSecure: boolean): CookieSerializeOptions {
  // Lax, so that the browser still sends the cookie when the customer returns from a bank's page.
  return { path, httpOnly: true, sameSite: 'lax', secure: isSecure }
}

/** The environment is part of the cookie, so that only its database is queried. */
export function writeCookie(environment: Environment, token: string): string {
  return `${environment}.${token}`
}

export function parseCookie(
  value: string | undefined,
): { readonly environment: Environment; readonly token: string } | undefined {
  const [name, token] = value?.split('.', 2) ?? []
  const environment = environmentNamed(name)
  return environment === undefined || !token ? undefined : { environment, token }
}

/** Returns the token of every form on an open page. Other sites can send forms to this service, but cannot know this token. */
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
