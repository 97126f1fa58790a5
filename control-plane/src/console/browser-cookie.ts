import type { FastifyReply, FastifyRequest } from 'fastify'

/** Names a browser that an account was signed in to in. It opens nothing: it only sets its attempts apart from others. */
export const browserCookieName = 'tollgate_browser'
const cookiePath = '/v1/ui/auth'
/** Longer ones are not ours. */
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
