import type { IncomingMessage, ServerResponse } from 'node:http'
import inject from 'light-my-request'
import type Provider from 'oidc-provider'

/** Cookie that ties an authorization request to its browser. */
export const resumeCookie = 'tollgate_resume'

/** A request to an authorization server. */
export type AuthRequest = {
  readonly method: 'GET' | 'POST'
  /** Path below `{issuer}/oauth`, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type AuthResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
}

/** Request headers that are passed to the library. */
export const passedHeaders = ['authorization', 'content-type', 'accept', 'accept-language'] as const

/** Response headers that are passed to the client. */
const returnedHeaders = [
  ...['content-type', 'location', 'cache-control', 'pragma', 'www-authenticate'],
  ...['content-security-policy', 'referrer-policy', 'x-content-type-options', 'x-robots-tag'],
]

type Listener = (
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
) => void

/**
 * Lets the library handle a request. The library sees the address of the issuer instead of Tollgate's own address, the whole body
 * at once, and no cookie except the one that ties an authorization request to its browser.
 */
export async function runProvider(
  provider: Provider,
  { method, path, headers, body }: AuthRequest,
): Promise<AuthResponse> {
  const issuer = new URL(provider.issuer)
  const mount = `${issuer.pathname.replace(/\/$/, '')}/oauth`
  const listener = provider.callback() as Listener
  const injected = await inject(
    (request, response) => {
      const received = request as unknown as IncomingMessage & { originalUrl?: string }
      received.originalUrl = mount + path
      listener(received, response)
    },
    {
      method,
      url: path,
      headers: {
        ...headers,
        ...(headers['cookie'] !== undefined && { cookie: ownCookies(headers['cookie']) }),
        host: issuer.host,
        'x-forwarded-proto': issuer.protocol.slice(0, -1),
      },
      ...(body !== undefined && { payload: body }),
    },
  )
  return {
    status: injected.statusCode,
    headers: headersOf(injected.headers),
    body: injected.payload,
  }
}

function ownCookies(text: string): string {
  const cookies = text.split(';').map((each) => each.trim())
  return cookies.filter(isOwnCookie).join('; ')
}

function isOwnCookie(cookie: string): boolean {
  return cookie.startsWith(`${resumeCookie}=`) || cookie.startsWith(`${resumeCookie}.sig=`)
}

function headersOf(given: Readonly<Record<string, unknown>>): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const name of returnedHeaders) {
    const value = given[name]
    if (typeof value === 'string') headers[name] = value
  }
  const cookies = [given['set-cookie'] ?? []].flat().map(String).filter(isOwnCookie)
  if (cookies.length > 0) headers['set-cookie'] = cookies
  return headers
}
