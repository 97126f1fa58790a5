import type { Issuer } from './issuers.ts'
import type { AuthRequest } from './run-provider.ts'

/** The client id and the secret in a request. */
export type ClientCredentials = {
  readonly clientId: string
  readonly secret: string | undefined
}

/**
 * Reads the client's credentials from the Authorization header, or from the form if there is no such header. Returns undefined if
 * the request names no client.
 */
export function clientCredentialsOf(
  headers: AuthRequest['headers'],
  form: URLSearchParams,
): ClientCredentials | undefined {
  const [, basic] = /^Basic +(.+)$/i.exec(headers['authorization'] ?? '') ?? []
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString('utf8')
    const colon = text.indexOf(':')
    if (colon < 0) return undefined
    return { clientId: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) }
  }
  const clientId = form.get('client_id')
  return clientId === null || clientId === ''
    ? undefined
    : { clientId, secret: form.get('client_secret') ?? undefined }
}

type TokenRequest = { readonly headers: AuthRequest['headers']; readonly form: URLSearchParams }

/**
 * Moves the secret to the place of the client's registered authentication method. The library accepts it nowhere else, and clients
 * that registered no method use either place. A request with both credentials is left unchanged, so that the library refuses it.
 */
export async function withRegisteredMethod(
  { provider }: Issuer,
  given: ClientCredentials | undefined,
  headers: AuthRequest['headers'],
  form: URLSearchParams,
): Promise<TokenRequest> {
  const isBasic = headers['authorization'] !== undefined
  const asIs = { headers, form }
  if (given?.secret === undefined || (isBasic && form.has('client_secret'))) return asIs
  const client = await provider.Client.find(given.clientId).catch(() => undefined)
  const moved = new URLSearchParams(form)
  if (client?.clientAuthMethod === 'client_secret_basic' && !isBasic) {
    const credentials = [given.clientId, given.secret].map(encodeURIComponent).join(':')
    moved.delete('client_secret')
    const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    return { headers: { ...headers, authorization }, form: moved }
  }
  if (client?.clientAuthMethod === 'client_secret_post' && isBasic) {
    const { authorization: _, ...others } = headers
    moved.set('client_id', given.clientId)
    moved.set('client_secret', given.secret)
    return { headers: others, form: moved }
  }
  return asIs
}

/** Both parts are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
