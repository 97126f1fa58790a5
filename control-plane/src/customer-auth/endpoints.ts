import { errorResponse, jsonResponse } from './responses.ts'
import { withRegisteredMethod, clientCredentialsOf } from './client-credentials.ts'
import { customerScopes, defaultScope, normalizeRegistration } from './client-metadata.ts'
import { isValidProof } from './interactions.ts'
import { resourceOf, type Issuer } from './issuers.ts'
import { refreshOnce } from './refresh-once.ts'
import type { RedirectPolicy } from './redirect-policy.ts'
import { runProvider, type AuthResponse, type AuthRequest } from './run-provider.ts'
import { AlreadyUsedError, commitTogether } from './commit-together.ts'

const metadataPath = '/.well-known/oauth-authorization-server'

/** Returns the metadata of the authorization server (RFC 8414), without the parts of OpenID Connect that are not served. */
export async function metadata({ provider }: Issuer): Promise<AuthResponse> {
  const response = await runProvider(provider, { method: 'GET', path: metadataPath, headers: {} })
  const given = JSON.parse(response.body) as Record<string, unknown>
  const served = {
    ...given,
    // The modes `form_post` and `fragment` belong to flows that are not offered.
    response_modes_supported: ['query'],
  }
  return jsonResponse(200, served, { 'cache-control': 'public, max-age=300' })
}

export async function jwks({ provider }: Issuer): Promise<AuthResponse> {
  const response = await runProvider(provider, { method: 'GET', path: '/jwks', headers: {} })
  return {
    ...response,
    headers: { ...response.headers, 'cache-control': 'public, max-age=300' },
  }
}

/** Starts an authorization request. Responds with a redirect to the sign-in page, or to the client with an error. */
export function authorize(
  { provider, address }: Issuer,
  parameters: URLSearchParams,
  headers: AuthRequest['headers'],
): Promise<AuthResponse> {
  const query = withCanonicalResource(address, parameters)
  // RFC 6749, section 3.3: the server applies a default if the client requests none of the supported scopes.
  const requestedScopes = query.getAll('scope').join(' ').split(' ')
  if (!customerScopes.some((each) => requestedScopes.includes(each)))
    query.set('scope', defaultScope)
  // The library cannot disable its other response modes, which pass the code to scripts of the page or to a form. It refuses
  // unknown modes, so any mode other than `query` is replaced by an unknown one.
  const modes = query.getAll('response_mode').filter((mode) => mode !== '')
  if (modes.some((mode) => mode !== 'query')) query.set('response_mode', 'refused')
  return runProvider(provider, { method: 'GET', path: `/authorize?${query.toString()}`, headers })
}

/** Ends an authorization request. Responds with a redirect to the client, but only in the browser in which the person answered. */
export async function resume(
  issuer: Issuer,
  uid: string,
  proof: string | null,
  headers: AuthRequest['headers'],
): Promise<AuthResponse> {
  const interaction = await issuer.provider.Interaction.find(uid)
  if (interaction?.result !== undefined && !isValidProof(interaction, proof)) {
    return errorResponse(400, 'access_denied', 'The sign-in was completed in another browser.')
  }
  const path = `/authorize/${encodeURIComponent(uid)}`
  const run = () => runProvider(issuer.provider, { method: 'GET', path, headers })
  try {
    return await commitTogether(issuer.store.rows, run)
  } catch (error) {
    if (!(error instanceof AlreadyUsedError)) throw error
    return errorResponse(400, 'access_denied', 'The sign-in was completed before.')
  }
}

/** Registers a client (RFC 7591). */
export async function register(
  { provider }: Issuer,
  body: unknown,
  headers: AuthRequest['headers'],
  policy: RedirectPolicy,
): Promise<AuthResponse> {
  const normalized = normalizeRegistration(body, policy)
  if (normalized.kind === 'refused') {
    const { error, error_description: description } = normalized.fault
    return errorResponse(400, error, description)
  }
  const response = await runProvider(provider, {
    method: 'POST',
    path: '/register',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(normalized.metadata),
  })
  return { ...response, headers: { ...response.headers, pragma: 'no-cache' } }
}

export async function token(
  issuer: Issuer,
  form: URLSearchParams,
  headers: AuthRequest['headers'],
): Promise<AuthResponse> {
  const { provider, address } = issuer
  const canonical = withCanonicalResource(address, form)
  const client = clientCredentialsOf(headers, canonical)
  const sent = await withRegisteredMethod(issuer, client, headers, canonical)
  const run = (): Promise<AuthResponse> =>
    runProvider(provider, {
      method: 'POST',
      path: '/token',
      headers: { ...sent.headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: sent.form.toString(),
    })
  const isRefresh =
    canonical.get('grant_type') === 'refresh_token' && canonical.has('refresh_token')
  try {
    const response = await (isRefresh && client !== undefined
      ? refreshOnce(issuer, client, canonical, run)
      : commitTogether(issuer.store.rows, run))
    return withSpecifiedDetails(response, headers)
  } catch (error) {
    if (!(error instanceof AlreadyUsedError)) throw error
    return errorResponse(400, 'invalid_grant', 'The grant was used before.')
  }
}

/** Adds details of RFC 6749, sections 5.1 and 5.2, that the library omits, words differently or cannot know. */
function withSpecifiedDetails(given: AuthResponse, headers: AuthRequest['headers']): AuthResponse {
  const response = { ...given, headers: { ...given.headers, pragma: 'no-cache' } }
  if (response.status === 401 && headers['authorization'] !== undefined) {
    const challenge = { 'www-authenticate': 'Basic realm="token"' }
    return { ...response, headers: { ...challenge, ...response.headers } }
  }
  return response.status === 400 &&
    response.body.includes('grant type is not allowed for this client')
    ? { ...response, body: response.body.replace('invalid_request', 'unauthorized_client') }
    : response
}

/**
 * Replaces aliases of the resource by its canonical name, so that a client may send several of them. Another resource stays in the
 * request, and the library refuses it.
 */
function withCanonicalResource(
  address: Issuer['address'],
  given: URLSearchParams,
): URLSearchParams {
  const canonical = new URLSearchParams()
  const resources = new Set<string>()
  for (const [name, value] of given) {
    if (name !== 'resource') canonical.append(name, value)
    else resources.add(resourceOf(address, value) ?? value)
  }
  for (const resource of resources) canonical.append('resource', resource)
  return canonical
}
