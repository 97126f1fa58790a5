import type {
  Configuration,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'
import {
  allowPlainHttpOf,
  customFetchOf,
  loadOpenidClient,
  type OpenidClient,
} from './openid-client.ts'
import type { Upstream } from './upstream.ts'

/** An issuer of OpenID Connect at which this installation is registered. */
export type OpenidIssuer = {
  readonly label: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Whether the issuer asks which account to use, even if only one is signed in. */
  readonly isAccountSelected: boolean
  /** Whether an address counts as verified if the issuer does not say whether it is. */
  readonly isEmailTrusted: boolean
  /** Domain of the company whose accounts may sign in. Undefined if the issuer has no accounts of others. */
  readonly domain: string | undefined
}

/** Returns whether the issuer is Google, whose claim `hd` alone says that an account is a company's own. */
export function isOfGoogle(issuer: string): boolean {
  return issuer.replace(/\/$/, '') === 'https://accounts.google.com'
}

/**
 * How long the metadata of an issuer is used before it is fetched again, in milliseconds. Keys are fetched again when a key is
 * missing.
 */
const metadataMs = 3_600_000

type Discovered = { readonly until: number; readonly configuration: Promise<Configuration> }

type Claims = Readonly<Record<string, unknown>>

/**
 * Signs in with OpenID Connect and discovery. The signature of the ID token is verified although the token comes directly from
 * the issuer.
 */
export function createOpenid(of: OpenidIssuer, fetch: GuardedFetch): Upstream {
  const configurationOf = createDiscovery(of, fetch)
  return {
    label: of.label,
    authorizeUrl: async (redirectUri, { state, nonce, verifier }) => {
      const client = await loadOpenidClient()
      return client.buildAuthorizationUrl(await configurationOf(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(of.isAccountSelected && { prompt: 'select_account' }),
      })
    },
    account: async (callback, { state, nonce, verifier }) => {
      const client = await loadOpenidClient()
      const configuration = await configurationOf()
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const { sub: subject, claims } = await readClaims(client, configuration, tokens)
      const { email_verified: verified = of.isEmailTrusted, name } = claims
      const email = verified === true ? emailOf(of, claims) : undefined
      return {
        identity: { issuer: configuration.serverMetadata().issuer, subject },
        verifiedEmail: email,
        name: typeof name === 'string' ? name : undefined,
      }
    },
  }
}

/** Returns the address of the account, or undefined if the account is not of the company's domain. */
function emailOf({ issuer, domain }: OpenidIssuer, claims: Claims): string | undefined {
  const { email, hd: hostedDomain } = claims
  if (typeof email !== 'string') return undefined
  if (domain === undefined) return email
  const own = isOfGoogle(issuer) ? hostedDomain : email.slice(email.lastIndexOf('@') + 1)
  return typeof own === 'string' && own.toLowerCase() === domain ? email : undefined
}

/** Returns the claims of the ID token. If it has no address, they are complemented from the issuer's UserInfo endpoint. */
async function readClaims(
  client: OpenidClient,
  configuration: Configuration,
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
): Promise<{ readonly sub: string; readonly claims: Claims }> {
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('the issuer sent no ID token')
  const { sub } = claims
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
  if (claims['email'] !== undefined || !hasUserInfo) return { sub, claims }
  const userInfo = await client.fetchUserInfo(configuration, tokens.access_token, sub)
  return { sub, claims: { ...claims, ...userInfo } }
}

/** Returns a function that discovers the issuer's metadata, or returns the metadata that was discovered less than an hour ago. */
function createDiscovery(
  { issuer, clientId, clientSecret }: OpenidIssuer,
  fetch: GuardedFetch,
): () => Promise<Configuration> {
  let discovered: Discovered | undefined

  const discover = async (): Promise<Configuration> => {
    const client = await loadOpenidClient()
    const execute = [...allowPlainHttpOf(client, issuer), client.enableNonRepudiationChecks]
    return client.discovery(new URL(issuer), clientId, {}, client.ClientSecretPost(clientSecret), {
      execute,
      [client.customFetch]: customFetchOf(fetch),
    })
  }
  return async () => {
    if (discovered === undefined || discovered.until <= performance.now()) {
      discovered = { until: performance.now() + metadataMs, configuration: discover() }
    }
    const { configuration } = discovered
    try {
      return await configuration
    } catch (error) {
      // Forget the failed discovery, so that the next sign-in tries again.
      if (discovered?.configuration === configuration) discovered = undefined
      throw error
    }
  }
}
