import { faultOfRedirect, isNativeRedirect, type RedirectPolicy } from './redirect-policy.ts'

/** Scopes that every authorization server supports. */
export const customerScopes = ['openid', 'profile', 'email'] as const

/** Scope of a client that requests none. It allows requests to the MCP server and reveals the customer's reference. */
export const defaultScope = 'openid'

/** Property with the reference of the customer that a client without a person acts for. Only the provider sets it. */
export const clientCustomerProperty = 'tollgate_customer_ref'

export type ClientMetadata = Readonly<Record<string, unknown>>

export type ClientFault = {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata'
  readonly error_description: string
}

/** The client metadata for the library, or the reason why the client is refused. */
export type NormalizedClient =
  | { readonly kind: 'metadata'; readonly metadata: ClientMetadata }
  | { readonly kind: 'refused'; readonly fault: ClientFault }

/**
 * Properties removed from metadata that a client sends. A client must not choose its customer or its secret. Registered scopes
 * would limit a client, and clients register scopes of other servers before they request ours. The library would fetch the address
 * of the sector identifier.
 */
const droppedProperties: ReadonlySet<string> = new Set([
  clientCustomerProperty,
  'client_secret',
  'scope',
  'sector_identifier_uri',
])

/**
 * Converts metadata of real clients to the form that the library accepts. Such clients name unknown scopes, register as web clients
 * although they run on the user's machine, and omit the authentication method.
 */
export function normalizeRegistration(body: unknown, policy: RedirectPolicy): NormalizedClient {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refused('invalid_client_metadata', 'The body must be a JSON object')
  }
  const given = body as ClientMetadata
  const normalized = normalizeClient(given, policy)
  if (normalized.kind === 'refused') return normalized
  const method = given['token_endpoint_auth_method'] ?? 'client_secret_basic'
  return {
    kind: 'metadata',
    metadata: { ...normalized.metadata, token_endpoint_auth_method: method },
  }
}

/**
 * Like `normalizeRegistration`, for a client that publishes its metadata. Without an authentication method, such a client has no
 * secret.
 */
export function normalizeClient(given: ClientMetadata, policy: RedirectPolicy): NormalizedClient {
  const uris = given['redirect_uris']
  if (!Array.isArray(uris) || uris.length === 0) {
    return refused('invalid_redirect_uri', '`redirect_uris` must name at least one URI')
  }
  for (const uri of uris) {
    const fault = faultOfRedirect(uri, policy)
    if (fault !== undefined) return refused('invalid_redirect_uri', `${String(uri)} ${fault}`)
  }
  const requestedGrants = given['grant_types'] ?? ['authorization_code', 'refresh_token']
  const grants = Array.isArray(requestedGrants) ? (requestedGrants as unknown[]) : []
  if (!grants.includes('authorization_code')) {
    const text =
      '`grant_types` must include authorization_code. Clients without a person are registered by the provider.'
    return refused('invalid_client_metadata', text)
  }
  const metadata: Record<string, unknown> = {
    ...Object.fromEntries(Object.entries(given).filter(([name]) => !droppedProperties.has(name))),
    grant_types: ['authorization_code', 'refresh_token'].filter((each) => grants.includes(each)),
    response_types: ['code'],
    application_type: (uris as string[]).some(isNativeRedirect)
      ? 'native'
      : (given['application_type'] ?? 'native'),
  }
  return { kind: 'metadata', metadata }
}

function refused(error: ClientFault['error'], error_description: string): NormalizedClient {
  return { kind: 'refused', fault: { error, error_description } }
}

const nameCharsMax = 80

/**
 * Returns the client's name for pages: one short line, without invisible characters and without characters that change the
 * direction of the text. Returns undefined if no characters remain.
 */
export function shownNameOf(name: string | undefined): string | undefined {
  const visible = (name ?? '').replaceAll(/[\p{Cf}\p{Co}\p{Cn}]/gu, '')
  const line = visible.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return Array.from(line).slice(0, nameCharsMax).join('') || undefined
}
