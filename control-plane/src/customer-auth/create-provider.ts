import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import Provider, {
  errors,
  interactionPolicy,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import { recordIssuedToken } from '@tollgate/domain/customer-auth/access-tokens'
import { extendClient } from '@tollgate/domain/customer-auth/oauth-records'
import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import type { ProxyAddress } from '@tollgate/domain/mcp/proxy-address'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'
import { claimsOf } from './claims.ts'
import { createDocumentFetch } from './client-documents.ts'
import { clientCustomerProperty, customerScopes } from './client-metadata.ts'
import { RecordAdapter, type RecordStore } from './record-adapter.ts'
import type { RedirectPolicy } from './redirect-policy.ts'
import { resumeCookie } from './run-provider.ts'
import type { SigningKeys } from './signing-keys.ts'
import { writeOrCollect } from './commit-together.ts'

export type ProviderParts = {
  readonly store: RecordStore
  readonly address: ProxyAddress
  readonly keys: SigningKeys
  readonly policy: RedirectPolicy
  readonly fetch: GuardedFetch
  readonly lifetimes: Lifetimes
  readonly logger: Logger
  /** Returns the address of the page that asks for a sign-in and for consent. `uid` is the id of the interaction. */
  readonly signInUrl: (uid: string) => string
  /** Returns the page that explains the problem to the person. */
  readonly problemPage: (acceptLanguage: string | undefined, problem: IssuerProblem) => ProblemPage
}

/** Either the library's description of an invalid request, written for developers, or too many requests. */
export type IssuerProblem = { readonly invalid: string } | 'too-many'

type ProblemPage = {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

export type Lifetimes = {
  readonly accessTokenSeconds: number
  readonly refreshTokenSeconds: number
  readonly grantSeconds: number
}

/** Time a person has to sign in, to read the consent page and to answer. */
const interactionSeconds = 15 * 60
const codeSeconds = 60

const scope = customerScopes.join(' ')

/**
 * Creates the authorization server of one MCP server: the library with the policy of Tollgate. Sends no request and runs no query.
 */
export function createProvider(parts: ProviderParts): Provider {
  const provider = new Provider(parts.address.issuer, configurationOf(parts))
  // The library builds addresses from the forwarded headers. `runProvider` sets them, so the client's own headers have no effect.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    await next()
    await storeIssuedToken(parts, ctx as KoaContextWithOIDC)
  })
  provider.on('server_error', (_ctx, error) => {
    parts.logger.error({ err: error }, 'an authorization server failed to handle a request')
  })
  return provider
}

function configurationOf(parts: ProviderParts): Configuration {
  const { store, keys, address } = parts
  const { issuer } = address
  return {
    adapter: (model: string) => new RecordAdapter(store, model),
    jwks: { keys: [...keys] },
    features: featuresOf(parts),
    routes: {
      authorization: '/authorize',
      token: '/token',
      registration: '/register',
      jwks: '/jwks',
    },
    discovery: {
      revocation_endpoint: `${issuer}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: [...authMethods],
      userinfo_endpoint: `${issuer}/oauth/userinfo`,
    },
    scopes: [...customerScopes],
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: [...authMethods],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    // Metadata documents of clients usually omit these properties. The defaults are what such clients expect.
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    extraClientMetadata: { properties: [clientCustomerProperty] },
    cookies: cookiesOf(keys),
    ttl: {
      AccessToken: parts.lifetimes.accessTokenSeconds,
      ClientCredentials: parts.lifetimes.accessTokenSeconds,
      IdToken: parts.lifetimes.accessTokenSeconds,
      AuthorizationCode: codeSeconds,
      RefreshToken: parts.lifetimes.refreshTokenSeconds,
      Grant: parts.lifetimes.grantSeconds,
      Interaction: interactionSeconds,
      Session: interactionSeconds,
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    ...interactionConfigurationOf(parts),
    renderError: (ctx, out) => {
      const { error, error_description: description } = out
      ctx.type = 'html'
      const text = typeof description === 'string' ? description : error
      const language = ctx.get('accept-language') || undefined
      const { html, headers } = parts.problemPage(language, { invalid: text })
      ctx.set(headers)
      ctx.body = html
    },
    fetch: createDocumentFetch({
      store,
      policy: parts.policy,
      fetch: parts.fetch,
      mayBeStale: () => Provider.ctx?.oidc.route === 'token',
    }),
  }
}

const authMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const

function featuresOf({ address, keys, lifetimes }: ProviderParts): Configuration['features'] {
  const { proxyUrl } = address
  const off = { enabled: false }
  return {
    devInteractions: off,
    registration: { enabled: true, initialAccessToken: false, issueRegistrationAccessToken: false },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => proxyUrl,
      useGrantedResource: () => true,
      // `withCanonicalResource` has already replaced aliases of the resource by this name.
      getResourceServerInfo: (_ctx, resource) => {
        if (resource !== proxyUrl) throw new errors.InvalidTarget('the resource is not served here')
        return {
          scope,
          audience: proxyUrl,
          accessTokenTTL: lifetimes.accessTokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256', kid: keys[0].kid } },
        }
      },
    },
    // Tollgate serves both endpoints itself, because those of the library do not accept JWT access tokens.
    userinfo: off,
    revocation: off,
    rpInitiatedLogout: off,
    pushedAuthorizationRequests: off,
    dPoP: off,
  }
}

/** The session of the library is not used: every authorization request asks the person on Tollgate's own pages. */
function interactionConfigurationOf(parts: ProviderParts): Configuration {
  const { Check, Prompt } = interactionPolicy
  const isOpen = (name: 'login' | 'consent') => (ctx: KoaContextWithOIDC) =>
    ctx.oidc.result?.[name] === undefined
  const policy = (['login', 'consent'] as const).map(
    (name) =>
      new Prompt(
        { name, requestable: true },
        new Check(`${name}_missing`, `${name} is required`, `${name}_required`, isOpen(name)),
      ),
  )
  return {
    interactions: {
      policy: policy as unknown as interactionPolicy.DefaultPolicy,
      url: (_ctx, { uid }) => parts.signInUrl(uid),
    },
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId)
    },
    findAccount: async (_ctx, customerRef) => {
      const customer = await findOwner(parts, customerRef)
      return customer && { accountId: customerRef, claims: () => claimsOf(customer) }
    },
    extraTokenClaims: async (_ctx, token) => {
      const customerRef = await customerRefOf(parts, token)
      return { customerRef }
    },
    formats: {
      customizers: {
        jwt: (_ctx, token, jwt) => {
          if (token.kind === 'ClientCredentials') jwt.payload['sub'] = jwt.payload['customerRef']
        },
      },
    },
  }
}

type SubjectToken = { readonly accountId?: unknown; readonly client?: unknown }

/** Throws if the customer was deleted. */
async function customerRefOf(parts: ProviderParts, token: SubjectToken): Promise<string> {
  const clientCustomerRef = (token.client as Record<string, unknown> | undefined)?.[
    clientCustomerProperty
  ]
  const customerRef = token.accountId ?? clientCustomerRef
  if (typeof customerRef !== 'string') {
    throw new errors.UnauthorizedClient('the client acts for no customer')
  }
  if ((await findOwner(parts, customerRef)) === undefined) {
    throw new errors.InvalidGrant('the customer does not exist')
  }
  return customerRef
}

async function findOwner(
  { store }: ProviderParts,
  customerRef: string,
): Promise<Customer | undefined> {
  const { providerId } = store.place
  const customer = await store.rows.read((sql) => findCustomer(sql, providerId, customerRef))
  return customer?.reference === customerRef ? customer : undefined
}

/** Records the issued access token. If the record fails, the token is not sent, because it could never be revoked. */
async function storeIssuedToken({ store, address }: ProviderParts, ctx: KoaContextWithOIDC) {
  const { oidc } = ctx as Partial<KoaContextWithOIDC>
  const body = ctx.body as { readonly access_token?: unknown } | undefined
  if (oidc?.route !== 'token' || typeof body?.access_token !== 'string') return
  const payload = decodeJwt<AccessTokenPayload>(body.access_token)
  const { providerId } = store.place
  const issued = {
    jti: payload.jti,
    issuer: address.issuer,
    grantId: oidc.entities.AccessToken?.grantId,
    customerRef: payload.sub,
    expiresAt: new Date(payload.exp * 1_000),
  }
  const clientExpiresAt = new Date(store.now().getTime() + store.clientMs)
  await writeOrCollect(store.rows, async (sql) => {
    await recordIssuedToken(sql, providerId, issued)
    await extendClient(sql, store.place, payload.client_id, clientExpiresAt)
  })
}

type AccessTokenPayload = {
  readonly jti: string
  readonly sub: string
  readonly exp: number
  readonly client_id: string
}

function cookiesOf(keys: SigningKeys): Configuration['cookies'] {
  const secretOf = (key: object): string =>
    createHash('sha256')
      .update(`cookies ${JSON.stringify(key)}`)
      .digest('base64url')
  return {
    keys: keys.map(secretOf),
    names: {
      session: 'tollgate_session',
      interaction: 'tollgate_interaction',
      resume: resumeCookie,
    },
    short: { httpOnly: true, sameSite: 'lax', signed: true },
    long: { httpOnly: true, sameSite: 'lax', signed: true },
  }
}
