import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { launchChromium } from '../pages/chromium.ts'

/* The steps of docs/mcp.md with an MCP client and a browser: sign-in, free calls, the paywall, the checkout, and the paid call. */

const email = 'grace@example.com'

type Look = (name: string) => Promise<void>

/** Returns what was shown and answered. Keeps a screenshot of each page. */
export async function walkWithMcpClient(pictures: string, proxyUrl: string): Promise<string> {
  const browser = await launchChromium()
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const lines: string[] = []
  const look: Look = async (name) => {
    await page.screenshot({ path: join(pictures, `${name}.png`) })
    lines.push(`${name}: ${await page.locator('h1').first().innerText()}`)
  }
  const sign = await PersonWithBrowser.create(page, look)
  try {
    const client = await connect(new URL(proxyUrl), sign)
    const call = async (name: string): Promise<Answer> => {
      const answer = (await client.callTool({ name, arguments: { city: 'Lisbon' } })) as Answer
      lines.push(`${name}: ${answer.content[0]?.text}`)
      return answer
    }
    const { tools } = await client.listTools()
    lines.push(tools.map(({ name }) => name).join(', '))
    for (let free = 0; free < 3; free += 1) requireServed(await call('forecast'))
    const refused = await call('forecast')
    const url = refused.structuredContent?.['checkoutUrl']
    if (typeof url !== 'string') throw new Error('The fourth call was not refused with a link')
    await buyPro(page, url, look)
    requireServed(await call('climate_report'))
    await call('get_user_info')
    await client.close()
  } finally {
    sign.stop()
    await browser.close()
  }
  return lines.join('\n')
}

type Answer = {
  readonly content: readonly { readonly text?: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

function requireServed({ content, structuredContent }: Answer): void {
  if (structuredContent?.['kind'] === undefined) return
  throw new Error(`A call was refused: ${content[0]?.text}`)
}

/** Connects the client. The first attempt gets 401 and starts the sign-in. The second attempt has the token. */
async function connect(url: URL, authProvider: PersonWithBrowser): Promise<Client> {
  const attempt = async (): Promise<Client> => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider })
    const client = new Client({ name: 'walk', version: '1.0.0' })
    try {
      await client.connect(transport)
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      await transport.finishAuth(await authProvider.answer())
      return attempt()
    }
    return client
  }
  return attempt()
}

async function buyPro(page: Page, url: string, look: Look): Promise<void> {
  await page.goto(url)
  await look('mcp-4-connect')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('link', { name: 'Choose Pro' }).waitFor()
  await look('mcp-5-checkout')
  await page.getByRole('link', { name: 'Choose Pro' }).click()
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('button', { name: 'Enter card' }).click()
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.getByText('✓').waitFor()
  await look('mcp-6-paid')
}

type Discovery = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>

/** Registers like an MCP client, and completes the sign-in pages. */
class PersonWithBrowser implements OAuthClientProvider {
  readonly #page: Page
  readonly #look: Look
  readonly #callback: Server
  readonly #answer: Promise<URLSearchParams>
  #client: unknown
  #tokens: unknown
  #verifier = ''
  #discovery: Discovery

  static async create(page: Page, look: Look): Promise<PersonWithBrowser> {
    const person = new PersonWithBrowser(page, look)
    await new Promise<void>((resolve) => person.#callback.listen(0, '127.0.0.1', resolve))
    return person
  }

  private constructor(page: Page, look: Look) {
    this.#page = page
    this.#look = look
    const callback = createServer()
    this.#callback = callback
    this.#answer = new Promise((resolve) => {
      callback.on('request', (request, response) => {
        response.end('<h1>Connected</h1>')
        resolve(new URL(request.url!, 'http://127.0.0.1').searchParams)
      })
    })
  }

  get redirectUrl(): string {
    return `http://127.0.0.1:${(this.#callback.address() as AddressInfo).port}/callback`
  }

  get clientMetadata() {
    return {
      client_name: 'Walk',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
  }

  clientInformation = () => this.#client as ReturnType<OAuthClientProvider['clientInformation']>
  tokens = () => this.#tokens as ReturnType<OAuthClientProvider['tokens']>
  codeVerifier = () => this.#verifier
  discoveryState = () => this.#discovery
  /** Returns the parameters of the final redirect. */
  answer = () => this.#answer

  saveClientInformation(client: unknown): void {
    this.#client = client
  }

  saveTokens(tokens: unknown): void {
    this.#tokens = tokens
  }

  saveDiscoveryState(discovery: Discovery): void {
    this.#discovery = discovery
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const page = this.#page
    await page.goto(url.href)
    await this.#look('mcp-1-sign-in')
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByLabel('Code', { exact: true }).waitFor()
    await this.#look('mcp-2-code')
    const inbox = await page.getByRole('link', { name: /inbox/ }).getAttribute('href')
    await page
      .getByLabel('Code', { exact: true })
      .fill(await this.#readCode(new URL(inbox!, page.url())))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
    await this.#look('mcp-3-consent')
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('Connected').waitFor()
  }

  /** Reads the code in another tab, as people do. */
  async #readCode(inbox: URL): Promise<string> {
    const tab = await this.#page.context().newPage()
    await tab.goto(inbox.href)
    const text = await tab.locator('main').innerText()
    await tab.close()
    const [code] = /\b\d{6,8}\b/.exec(text) ?? []
    if (code === undefined) throw new Error(`There is no code in the inbox: ${text}`)
    return code
  }

  stop(): void {
    this.#callback.close()
  }
}
