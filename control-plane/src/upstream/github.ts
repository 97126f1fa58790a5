import type { Configuration } from 'openid-client'
import { z } from 'zod'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'
import {
  allowPlainHttpOf,
  customFetchOf,
  loadOpenidClient,
  type OpenidClient,
} from './openid-client.ts'
import type { UpstreamConfig } from './upstream-settings.ts'
import type { Upstream } from './upstream.ts'

const userSchema = z.object({ id: z.int().positive(), name: z.string().nullish() })

const emailsSchema = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
)

/**
 * Signs in with OAuth 2.0, followed by two requests to GitHub's API, because GitHub's tokens do not name the account. The tokens
 * are not stored.
 */
export function createGithub(
  { githubUrl, githubClientId, githubClientSecret }: UpstreamConfig,
  fetch: GuardedFetch,
): Upstream {
  const apiUrl = apiUrlOf(githubUrl)

  const configurationOf = (client: OpenidClient): Configuration => {
    const configuration = new client.Configuration(
      {
        // GitHub sends this name as `iss` in its responses.
        issuer: `${githubUrl}/login/oauth`,
        authorization_endpoint: `${githubUrl}/login/oauth/authorize`,
        token_endpoint: `${githubUrl}/login/oauth/access_token`,
      },
      githubClientId,
      {},
      client.ClientSecretPost(githubClientSecret),
    )
    configuration[client.customFetch] = customFetchOf(fetch)
    for (const allow of allowPlainHttpOf(client, githubUrl)) allow(configuration)
    return configuration
  }

  return {
    label: 'GitHub',
    authorizeUrl: async (redirectUri, { state, verifier }) => {
      const client = await loadOpenidClient()
      return client.buildAuthorizationUrl(configurationOf(client), {
        redirect_uri: redirectUri,
        scope: 'user:email',
        state,
        // Versions of GitHub Enterprise Server without PKCE ignore this parameter.
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        prompt: 'select_account',
      })
    },
    account: async (callback, { state, verifier }) => {
      const client = await loadOpenidClient()
      const configuration = configurationOf(client)
      const { access_token: token } = await client.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      })
      const read = async <Schema extends z.ZodType>(
        path: string,
        schema: Schema,
      ): Promise<z.infer<Schema>> => {
        const url = new URL(apiUrl + path)
        const headers = new Headers({ accept: 'application/vnd.github+json' })
        const answer = await client.fetchProtectedResource(
          ...([configuration, token, url, 'GET', undefined, headers] as const),
        )
        if (answer.status !== 200) throw new Error(`GitHub answered ${answer.status} at ${path}`)
        return schema.parse(await answer.json())
      }
      const [user, emails] = await Promise.all([
        read('/user', userSchema),
        read('/user/emails', emailsSchema),
      ])
      const primary = emails.find((each) => each.primary && each.verified)
      return {
        // The login of an account can change and pass to another account. The id cannot.
        identity: { issuer: githubUrl, subject: String(user.id) },
        verifiedEmail: primary?.email,
        name: user.name ?? undefined,
      }
    },
  }
}

/** Returns the address of the API: github.com and ghe.com have a host for it, GitHub Enterprise Server has a path. */
function apiUrlOf(githubUrl: string): string {
  const { protocol, hostname, host } = new URL(githubUrl)
  const hasOwnHost = hostname === 'github.com' || hostname.endsWith('.ghe.com')
  return hasOwnHost ? `${protocol}//api.${host}` : `${githubUrl}/api/v3`
}
