import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { interactionPolicy } from 'oidc-provider'
import { hosted } from './customer-auth-world.ts'

/* Replacements for Google and the issuer of the console, as real OpenID providers, and for GitHub, with the responses that GitHub documents. */

export const openidClient = { id: 'openid-client', secret: 'openid-secret' }
export const githubClient = { id: 'github-client', secret: 'github-secret' }

/** How the server handles requests. In the mode `hanging` it accepts requests and never responds. */
type Mode = 'up' | 'broken' | 'hanging'

type OpenidAccount = {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
}

/** An OpenID provider where `account` is signed in and consents to everything. */
export class FakeOpenid {
  mode: Mode = 'up'
  /** Whether the signatures of ID tokens are wrong. */
  isForging = false
  account: OpenidAccount = { sub: '0' }
  /** Accounts by subject. The provider reads an account when it issues a token, and `account` may have changed by then. */
  readonly #known = new Map<string, OpenidAccount>()
  readonly #server: Server
  readonly url: string

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  /** The ID tokens name the email address unless `isThin`. The UserInfo endpoint always does. */
  static async start(redirectUri: string, { isThin = false } = {}): Promise<FakeOpenid> {
    const server = createServer()
    const issuer = new FakeOpenid(server, await listen(server))
    const provider = issuer.#createProvider(redirectUri, isThin)
    const callback = provider.callback()
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (issuer.mode === 'hanging') return
      if (issuer.isForging && request.url === '/token') forgeSignatures(response)
      if (issuer.mode === 'broken') response.writeHead(500).end('broken')
      else if (request.url!.startsWith('/interaction/')) {
        void issuer.#answerForPerson(provider, request, response)
      } else void callback(request, response)
    })
    return issuer
  }

  async #answerForPerson(provider: Provider, request: IncomingMessage, response: ServerResponse) {
    const { params } = await provider.interactionDetails(request, response)
    const { sub } = this.account
    this.#known.set(sub, this.account)
    const grant = new provider.Grant({ accountId: sub, clientId: String(params['client_id']) })
    grant.addOIDCScope('openid email profile')
    const consent = { grantId: await grant.save() }
    const result = { select_account: {}, login: { accountId: sub }, consent }
    await provider.interactionFinished(request, response, result)
  }

  #createProvider(redirectUri: string, isThin: boolean): Provider {
    const policy = interactionPolicy.base()
    policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0)
    return new Provider(this.url, {
      clients: [
        {
          client_id: openidClient.id,
          client_secret: openidClient.secret,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: isThin,
      cookies: { keys: ['openid'] },
      features: { devInteractions: { enabled: false } },
      interactions: { policy, url: (_ctx, { uid }) => `/interaction/${uid}` },
      findAccount: (_ctx, sub) => ({
        accountId: sub,
        claims: () => ({ ...this.#known.get(sub), sub }),
      }),
    })
  }

  stop(): Promise<void> {
    return close(this.#server)
  }
}

type GithubAccount = {
  readonly id: number
  readonly name?: string | null
  readonly emails: readonly { email: string; primary: boolean; verified: boolean }[]
}

type GithubCode = { readonly challenge: string; readonly redirectUri: string }

/** The 3 addresses of GitHub: https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps. */
export class FakeGithub {
  mode: Mode = 'up'
  account: GithubAccount = { id: 1, emails: [] }
  readonly #codes = new Map<string, GithubCode>()
  readonly #tokens = new Map<string, GithubAccount>()
  readonly #server: Server
  readonly url: string

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async start(): Promise<FakeGithub> {
    const server = createServer()
    const github = new FakeGithub(server, await listen(server))
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void github.#answer(request, response)
    })
    return github
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url)
    if (pathname === '/login/oauth/authorize') return this.#authorize(response, searchParams)
    if (this.mode === 'hanging') return
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (this.mode === 'broken') return json(502, { message: 'Server Error' })
    if (pathname === '/login/oauth/access_token') {
      let text = ''
      for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
      return json(200, this.#redeem(new URLSearchParams(text)))
    }
    const { authorization, 'user-agent': agent } = request.headers
    const account = this.#tokens.get(/^bearer (.*)$/i.exec(authorization ?? '')?.[1] ?? '')
    if (account === undefined) return json(401, { message: 'Bad credentials' })
    // GitHub refuses requests without a User-Agent header.
    if (agent === undefined) return json(403, { message: 'Request forbidden' })
    if (pathname === '/api/v3/user/emails') return json(200, account.emails)
    if (pathname === '/api/v3/user') {
      return json(200, { id: account.id, login: 'octocat', name: account.name ?? null })
    }
    return json(404, { message: 'Not Found' })
  }

  #authorize(response: ServerResponse, given: URLSearchParams): void {
    const code = randomBytes(10).toString('hex')
    const redirectUri = given.get('redirect_uri')!
    this.#codes.set(code, { challenge: given.get('code_challenge')!, redirectUri })
    const location = new URL(redirectUri)
    location.search = new URLSearchParams({ code, state: given.get('state')! }).toString()
    response.writeHead(302, { location: location.href }).end()
  }

  /** Redeems a code. GitHub sends errors with status 200. */
  #redeem(form: URLSearchParams): object {
    const { id, secret } = githubClient
    if (form.get('client_id') !== id || form.get('client_secret') !== secret) {
      return { error: 'incorrect_client_credentials' }
    }
    const code = this.#codes.get(form.get('code')!)
    this.#codes.delete(form.get('code')!)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (code?.challenge !== challenge || code.redirectUri !== form.get('redirect_uri')) {
      return { error: 'bad_verification_code', error_description: 'The code is incorrect.' }
    }
    const token = randomBytes(10).toString('hex')
    this.#tokens.set(token, this.account)
    return { access_token: token, token_type: 'bearer', scope: 'user:email' }
  }

  stop(): Promise<void> {
    return close(this.#server)
  }
}

/** Replaces the signatures of ID tokens in the response. The length of the response stays the same. */
function forgeSignatures(response: ServerResponse): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse
  const forge = (_whole: string, token: string): string => `${token}.${'A'.repeat(43)}`
  response.end = (body?: unknown) =>
    end(String(body).replace(/("id_token":"[\w-]+\.[\w-]+)\.[\w-]{43}/, forge))
}

/** Follows the redirects of the upstream. Returns the address of the stack at which they end. */
export async function travel(address: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(address)
  while (url.origin !== hosted) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${response.status} ${await response.text()}`)
    url = new URL(location, url)
  }
  return url
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
