import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Cookie that names a browser in which an account has signed in. It grants no access: it only counts the sign-in attempts of this
 * browser separately.
 */
export const browserCookieName = 'tollgate_browser'
const cookiePath = '/v1/ui/auth'
/** Tokens of another length were not issued by Tollgate. */
const tokenPattern = /(?:^|;)\s*tollgate_browser=([A-Za-z0-9_-]{43})\s*(?:;|$)/

export function readBrowserCookie({
  headers,
}: Pick<FastifyRequest, 'headers'>): string | undefined {
  return tokenPattern.exec(headers.cookie ?? '')?.[1]
}

export function setBrowserCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  lifetimeMs: number,
): void {
  const attributes = [
    `${browserCookieName}=${token}`,
    `Path=${cookiePath}`,
    `Max-Age=${Math.floor(lifetimeMs / 1000)}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(request.protocol === 'https' ? ['Secure'] : []),
  ]
  void reply.header('set-cookie', attributes.join('; '))
}
