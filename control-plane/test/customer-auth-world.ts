import { createHash, randomBytes } from 'node:crypto'
import type { McpBootstrappedBody } from '@tollgate/schemas/http/mcp'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

export const hosted = 'http://hosted.test:8787'
export const template = 'http://mcp.test:8788/sandbox/mcp/{subdomain}'
export const liveTemplate = 'http://mcp.test:8788/mcp/{subdomain}'
export const redirectUri = 'http://127.0.0.1:5555/callback'

/** Settings of a control plane with the addresses of this file, and with limits that no test reaches by accident. */
export const authSettings = {
  TOLLGATE_HOSTED_URL: hosted,
  TOLLGATE_MCP_SANDBOX_URL: template,
  TOLLGATE_MCP_LIVE_URL: liveTemplate,
  TOLLGATE_CUSTOMER_AUTH_INBOX: 'on',
  TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
  TOLLGATE_CUSTOMER_AUTH_CODES_PER_EMAIL_MAX: '1000',
  TOLLGATE_CUSTOMER_AUTH_CODES_PER_ADDRESS_MAX: '1000',
  TOLLGATE_CUSTOMER_AUTH_GUESSES_PER_ADDRESS_MAX: '1000',
  TOLLGATE_CUSTOMER_AUTH_REGISTRATIONS_PER_ADDRESS_MAX: '1000',
  TOLLGATE_CUSTOMER_AUTH_SIGN_INS_PER_ADDRESS_MAX: '1000',
}

export function startAuthStack(settings: Record<string, string> = {}): Promise<TestStack> {
  return startTestStack({ settings: { ...authSettings, ...settings } })
}

/** An MCP product with its authorization server. */
export type World = {
  readonly tenant: Tenant
  readonly key: string
  readonly environment: 'sandbox' | 'live'
  readonly productRef: string
  readonly freePlanRef: string
  readonly subdomain: string
  readonly issuer: string
  readonly proxyUrl: string
}

export async function createWorld(
  stack: TestStack,
  given: {
    readonly tenant?: Tenant
    readonly environment?: 'sandbox' | 'live'
    readonly plans?: readonly object[]
  } = {},
): Promise<World> {
  const { environment = 'sandbox', plans } = given
  const tenant = given.tenant ?? (await stack.createTenant())
  const key = environment === 'live' ? tenant.liveKey : tenant.sandboxKey
  const { status, body } = await stack.call<McpBootstrappedBody>(
    key,
    'POST',
    '/v1/sdk/products/mcp/bootstrap',
    {
      originUrl: 'https://origin.example/mcp',
      name: 'Weather',
      tools: [],
      ...(plans && { plans }),
    },
  )
  if (status !== 201) throw new Error(JSON.stringify(body))
  const { subdomain, mcpProxyUrl, defaultPlanRef } = body.mcpServer
  return {
    tenant,
    key,
    environment,
    productRef: body.product.reference,
    freePlanRef: defaultPlanRef ?? '',
    subdomain,
    issuer: mcpProxyUrl,
    proxyUrl: mcpProxyUrl,
  }
}

type Cookies = Map<string, { value: string; path: string; host: string }>

/** A browser with cookies. Requests to the proxy and to the hosted address go to the stack itself. */
export class Browser {
  readonly #stack: TestStack
  readonly #cookies: Cookies

  constructor(stack: TestStack, cookies: Cookies = new Map()) {
    this.#stack = stack
    this.#cookies = cookies
  }

  /** Returns the same browser for the stack of another process. */
  at(stack: TestStack): Browser {
    return new Browser(stack, this.#cookies)
  }

  async open(address: string, form?: Record<string, string>): Promise<Page> {
    const url = new URL(address)
    const body = form === undefined ? undefined : new URLSearchParams(form)
    const response = await this.#stack.fetch(this.#pathOf(url), {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: this.#cookiesFor(url),
        // The proxy sends these headers.
        'x-forwarded-host': url.host,
        'x-forwarded-proto': url.protocol.slice(0, -1),
      },
      ...(body && { body }),
    })
    for (const cookie of response.headers.getSetCookie()) this.#keep(url, cookie)
    const location = response.headers.get('location')
    return {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    }
  }

  /** Follows redirects as long as they lead to the stack. */
  async follow(page: Page): Promise<Page> {
    let at = page
    while (at.location !== undefined && isOurs(at.location)) at = await this.open(at.location)
    return at
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()]
  }

  #pathOf(url: URL): string {
    if (url.host === new URL(hosted).host) return url.pathname + url.search
    return `${oauthPathOf(url)}${url.search}`
  }

  #keep(url: URL, cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map((each) => each.trim())
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
    const name = pair.slice(0, pair.indexOf('='))
    const value = pair.slice(pair.indexOf('=') + 1)
    const isOver = value === '' || attributes.some((each) => /expires=Thu, 01 Jan 1970/i.test(each))
    if (isOver) this.#cookies.delete(name)
    else this.#cookies.set(name, { value, path, host: url.host })
  }

  #cookiesFor(url: URL): string {
    return [...this.#cookies]
      .filter(([, { path, host }]) => host === url.host && url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ')
  }
}

export type Page = {
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string | undefined
}

function isOurs(address: string): boolean {
  const { host } = new URL(address)
  return host === new URL(hosted).host || host === new URL(template).host
}

/** Returns the path to which the proxy forwards an address below an issuer. */
function oauthPathOf(url: URL): string {
  const [, environment, subdomain, rest] =
    /^(\/sandbox)?\/mcp\/([^/]+)\/oauth\/(.*)$/.exec(url.pathname) ?? []
  return `/oauth/${environment === undefined ? 'live' : 'sandbox'}/${subdomain}/${rest}`
}

export function formTokenOf({ text }: Page): string {
  return /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

export function drawPkce() {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, challenge }
}

export type Client = {
  readonly client_id: string
  readonly client_secret?: string
  readonly token_endpoint_auth_method: string
  readonly error?: string
  readonly error_description?: string
}

type Json<Body> = { readonly status: number; readonly headers: Headers; readonly body: Body }

export type Tokens = {
  readonly access_token: string
  readonly refresh_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
  readonly error?: string
  readonly error_description?: string
}

/** A client of one authorization server, with its user. */
export class Caller {
  readonly stack: TestStack
  readonly world: World

  constructor(stack: TestStack, world: World) {
    this.stack = stack
    this.world = world
  }

  get base(): string {
    return `/oauth/${this.world.environment}/${this.world.subdomain}`
  }

  async register(body: object = {}): Promise<Json<Client>> {
    return this.json(`${this.base}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Test client',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        ...body,
      }),
    })
  }

  authorizeUrl(client: Client, challenge: string, more: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      state: 'st4te',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      resource: this.world.proxyUrl,
      ...more,
    })
    return `${this.world.issuer}/oauth/authorize?${query.toString()}`
  }

  /** Signs in up to the consent page. */
  async signIn(browser: Browser, page: Page, email: string): Promise<Page> {
    const path = page.url.href.replace(/\?.*/, '')
    const sent = await browser.open(`${path}/email`, { formToken: formTokenOf(page), email })
    const codePage = await browser.follow(sent)
    const code = await this.lastCode(email)
    const entered = await browser.open(`${path}/code`, { formToken: formTokenOf(codePage), code })
    return browser.follow(entered)
  }

  async lastCode(email: string): Promise<string> {
    const [row] = await this.stack.database.in(this.world.environment)<{ body: string }[]>`
      select body from inbox_messages where recipient = ${email} order by created_at desc limit 1`
    return /\d{6}/.exec(row?.body ?? '')?.[0] ?? ''
  }

  answer(browser: Browser, consent: Page, answer: 'allow' | 'refuse'): Promise<Page> {
    const path = consent.url.href.replace(/\?.*/, '')
    return browser.open(`${path}/answer`, { formToken: formTokenOf(consent), answer })
  }

  /** Runs the complete flow. Returns the address to which the client is redirected. */
  async authorize(
    client: Client,
    email: string,
    given: {
      readonly challenge: string
      readonly more?: Record<string, string>
      readonly answer?: 'allow' | 'refuse'
    },
    browser = new Browser(this.stack),
  ): Promise<URL> {
    const started = await browser.open(this.authorizeUrl(client, given.challenge, given.more))
    const page = await browser.follow(started)
    if (page.location !== undefined) return new URL(page.location)
    const consent = page.text.includes('name="answer"')
      ? page
      : await this.signIn(browser, page, email)
    const answered = await this.answer(browser, consent, given.answer ?? 'allow')
    const end = await browser.follow(answered)
    if (end.location === undefined) throw new Error(`${end.status} ${end.text}`)
    return new URL(end.location)
  }

  async token(
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Json<Tokens>> {
    return this.json(`${this.base}/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    })
  }

  redeem(client: Client, code: string, verifier: string, more: Record<string, string> = {}) {
    return this.token({
      grant_type: 'authorization_code',
      client_id: client.client_id,
      ...(client.client_secret !== undefined && { client_secret: client.client_secret }),
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      ...more,
    })
  }

  refresh(client: Client, refreshToken: string, more: Record<string, string> = {}) {
    return this.token({
      grant_type: 'refresh_token',
      client_id: client.client_id,
      refresh_token: refreshToken,
      ...more,
    })
  }

  /** Registers a public client and returns its user's tokens. */
  async connect(email: string, more: Record<string, string> = {}) {
    const { body: client } = await this.register()
    const { verifier, challenge } = drawPkce()
    const callback = await this.authorize(client, email, { challenge, more })
    const { status, body } = await this.redeem(client, callback.searchParams.get('code')!, verifier)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return { client, tokens: body }
  }

  userinfo<Body = Record<string, string>>(token: string): Promise<Json<Body>> {
    return this.json(`${this.base}/userinfo`, { headers: { authorization: `Bearer ${token}` } })
  }

  revoke<Body = Record<string, unknown>>(form: Record<string, string>): Promise<Json<Body>> {
    const body = new URLSearchParams(form)
    return this.json(`${this.base}/revoke`, { method: 'POST', body })
  }

  async json<Body>(path: string, init: RequestInit = {}): Promise<Json<Body>> {
    const response = await this.stack.fetch(path, { redirect: 'manual', ...init })
    const text = await response.text()
    const body = (text.startsWith('{') ? JSON.parse(text) : { text }) as Body
    return { status: response.status, headers: response.headers, body }
  }
}
