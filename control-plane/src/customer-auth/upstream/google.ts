import type { Configuration } from 'openid-client'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'
import { allowPlainHttpOf, customFetchOf, loadOpenidClient } from './openid-client.ts'
import type { UpstreamConfig } from './upstream-settings.ts'
import type { Upstream } from './upstream.ts'

/**
 * How long the metadata of Google is used before it is fetched again, in milliseconds. Keys are fetched again when a key is
 * missing.
 */
const metadataMs = 3_600_000

type Discovered = { readonly until: number; readonly configuration: Promise<Configuration> }

/**
 * Signs in with OpenID Connect and discovery. The signature of the ID token is verified although the token comes directly from
 * Google.
 */
export function createGoogle(
  { googleIssuer, googleClientId, googleClientSecret }: UpstreamConfig,
  fetch: GuardedFetch,
): Upstream {
  let discovered: Discovered | undefined

  const discover = async (): Promise<Configuration> => {
    const client = await loadOpenidClient()
    const execute = [...allowPlainHttpOf(client, googleIssuer), client.enableNonRepudiationChecks]
    return client.discovery(
      new URL(googleIssuer),
      googleClientId,
      {},
      client.ClientSecretPost(googleClientSecret),
      { execute, [client.customFetch]: customFetchOf(fetch) },
    )
  }
  const configurationOf = async (): Promise<Configuration> => {
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

  return {
    label: 'Google',
    authorizeUrl: async (redirectUri, { state, nonce, verifier }) => {
      const client = await loadOpenidClient()
      return client.buildAuthorizationUrl(await configurationOf(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        prompt: 'select_account',
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
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('Google sent no ID token')
      const { sub: subject, email, email_verified: isVerified, name } = claims
      return {
        identity: { issuer: configuration.serverMetadata().issuer, subject },
        verifiedEmail: isVerified === true && typeof email === 'string' ? email : undefined,
        name: typeof name === 'string' ? name : undefined,
      }
    },
  }
}
