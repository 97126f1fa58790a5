import { createHash, randomBytes } from 'node:crypto'
import { createServer, request as sendRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import {
  FakeGithub,
  FakeOpenid,
  githubClient,
  openidClient,
} from '../../../control-plane/test/upstream-servers.ts'
import { createConsoleUser, quickPasswords } from '../console/console-users.ts'
import { startStack, type Stack } from '../stack.ts'
import { launchChromium } from './chromium.ts'
import { createVisitor } from './visitor.ts'

/*
 * A customer authorizes an MCP client and opens a link, and a user of the console signs in with a company's account, in a real
 * browser. Hosted pages, issuers and client have different origins.
 */

let stack: Stack
let browser: Browser
let front: Server
let github: FakeGithub
let company: FakeOpenid
let providerId: string
let callback: Server
let hosted: string
let redirectUri: string
let productRef: string
let subdomain: string
let send: (method: string, path: string, body: unknown) => Promise<Record<string, unknown>>

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Forwards authorization requests like the MCP proxy, and all other requests unchanged. */
function createFront(target: () => string): Server {
  return createServer((request, response) => {
    const [, sub, rest] = /^\/sandbox\/mcp\/([^/]+)\/oauth\/(.*)$/.exec(request.url ?? '') ?? []
    const path = sub === undefined ? request.url! : `/oauth/sandbox/${sub}/${rest}`
    const to = new URL(path, target())
    const forwarded = sendRequest(to, { method: request.method!, headers: request.headers })
    forwarded.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    request.pipe(forwarded)
  })
}

beforeAll(async () => {
  front = createFront(() => stack.baseUrl)
  callback = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><html lang="en"><title>Client</title><h1>Connected</h1></html>')
  })
  const port = await listen(front)
  redirectUri = `http://127.0.0.1:${await listen(callback)}/callback`
  hosted = `http://localhost:${port}`
  github = await FakeGithub.start()
  company = await FakeOpenid.start(`${hosted}/console/sign-in/openid/callback`)
  const settings = {
    TOLLGATE_HOSTED_URL: hosted,
    TOLLGATE_MCP_SANDBOX_URL: `http://127.0.0.1:${port}/sandbox/mcp/{subdomain}`,
    TOLLGATE_CUSTOMER_AUTH_INBOX: 'on',
    TOLLGATE_GITHUB_CLIENT_ID: githubClient.id,
    TOLLGATE_GITHUB_CLIENT_SECRET: githubClient.secret,
    TOLLGATE_GITHUB_URL: github.url,
    // No browser opens Google in these tests.
    TOLLGATE_GOOGLE_CLIENT_ID: 'google',
    TOLLGATE_GOOGLE_CLIENT_SECRET: 'google',
    ...quickPasswords,
    TOLLGATE_CONSOLE_OPENID_ISSUER: company.url,
    TOLLGATE_CONSOLE_OPENID_CLIENT_ID: openidClient.id,
    TOLLGATE_CONSOLE_OPENID_CLIENT_SECRET: openidClient.secret,
    TOLLGATE_CONSOLE_OPENID_NAME: 'Acme',
  }
  ;[stack, browser] = await Promise.all([startStack({ settings }), launchChromium()])
  const provider = await stack.createProvider()
  providerId = provider.providerId
  const { sandbox } = provider
  send = async (method, path, body) => {
    const answer = await sandbox.send(method, path, body)
    expect([path, answer.status, answer.body]).toEqual([path, 201, expect.anything()])
    return answer.body as Record<string, unknown>
  }
  const { product, mcpServer } = await send('POST', '/v1/sdk/products/mcp/bootstrap', {
    originUrl: 'https://origin.example/mcp',
    name: 'Weather tools',
    tools: [],
  })
  productRef = (product as { reference: string }).reference
  subdomain = (mcpServer as { subdomain: string }).subdomain
})

afterAll(async () => {
  await browser.close()
  front.close()
  callback.close()
  await github.stop()
  await company.stop()
  await stack.stop()
})

async function register(): Promise<string> {
  const answer = await fetch(`${stack.baseUrl}/oauth/sandbox/${subdomain}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Weather Assistant',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }),
  })
  return ((await answer.json()) as { client_id: string }).client_id
}

async function authorizeUrl(): Promise<string> {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: await register(),
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state: 'state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const { port } = front.address() as AddressInfo
  return `http://127.0.0.1:${port}/sandbox/mcp/${subdomain}/oauth/authorize?${query.toString()}`
}

/** Enters the email address, and the code that the inbox shows for it. */
async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor()
  const inbox = await page.context().newPage()
  await inbox.goto(`${hosted}/inbox`)
  const message = inbox.locator('section', { hasText: email }).first()
  const [code = ''] = /\d{6}/.exec((await message.textContent()) ?? '') ?? []
  await inbox.close()
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('signs a customer in by a code, asks for consent, and redirects to the client', async () => {
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(await authorizeUrl())
  await page.getByRole('heading', { name: /^Sign in at/ }).waitFor()
  await visitor.inspect('sign-in-email')
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor()
  await visitor.inspect('sign-in-code')
  await page.getByLabel('Code').fill('000 000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The code is incorrect.').waitFor()
  await visitor.inspect('sign-in-code-wrong')
  await page.getByRole('link', { name: 'Use another email address' }).click()
  await signIn(page, 'ada@example.com')
  await page.getByRole('heading', { name: 'Allow Weather Assistant?' }).waitFor()
  await visitor.inspect('sign-in-consent')
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByRole('heading', { name: 'Connected' }).waitFor()
  const { searchParams } = new URL(page.url())
  expect([...searchParams.keys()].sort()).toEqual(['code', 'iss', 'state'])
  await page.goto(`${hosted}/inbox`)
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await visitor.inspect('sign-in-inbox')
  await visitor.close()
})

test('signs a customer in with a GitHub account, or explains why that failed', async () => {
  const visitor = await createVisitor(browser)
  const { page } = visitor
  const account = { email: 'cat@example.com', primary: true }
  github.account = { id: 1, emails: [{ ...account, verified: false }] }
  await page.goto(await authorizeUrl())
  await page.getByRole('button', { name: 'Continue with GitHub' }).click()
  await page.getByText('Your email address at GitHub is not verified.').waitFor()
  await visitor.inspect('sign-in-upstream-unverified')
  github.account = { id: 1, emails: [{ ...account, verified: true }] }
  // The browser stays on the page, because GitHub answers 204.
  const authorize = `${github.url}/login/oauth/authorize?*`
  await page.route(authorize, (route) => route.fulfill({ status: 204 }))
  await page.getByRole('button', { name: 'Continue with GitHub' }).click()
  await page.getByRole('heading', { name: 'Continue with GitHub' }).waitFor()
  await visitor.inspect('sign-in-leaving')
  await page.unroute(authorize)
  await page.getByRole('link', { name: 'Continue with GitHub' }).click()
  await page.getByRole('heading', { name: 'Allow Weather Assistant?' }).waitFor()
  await page.getByText('Signed in as cat@example.com').waitFor()
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByRole('heading', { name: 'Connected' }).waitFor()
  await visitor.close()
})

test('opens the checkout from a link only for its customer', async () => {
  const email = 'grace@example.com'
  const { reference } = await send('POST', '/v1/sdk/customers', { email })
  const link = { customerRef: reference, productRef, purpose: 'checkout' }
  const { url } = await send('POST', '/v1/customer/auth/links', link)
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(url as string)
  await signIn(page, 'other@example.com')
  await page.getByRole('heading', { name: 'This link is for another customer' }).waitFor()
  await visitor.inspect('connect-other-customer')
  await page.getByRole('button', { name: 'Use another email address' }).click()
  await signIn(page, email)
  await page.getByRole('heading', { name: 'Continue to the checkout?' }).waitFor()
  await visitor.inspect('connect')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(/\/customer\/checkout\//)
  await page.goto(url as string)
  await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor()
  await visitor.inspect('connect-ended')
  await visitor.close()
})

test('opens the portal from a link for a customer on a test clock', async () => {
  const email = 'ahead@example.com'
  const frozenTime = new Date(Date.now() + 1_000 * 86_400_000).toISOString()
  const { reference: testClock } = await send('POST', '/v1/ui/test-clocks', { frozenTime })
  const { reference } = await send('POST', '/v1/sdk/customers', { email, testClock })
  const link = { customerRef: reference, productRef, purpose: 'portal' }
  const { url } = await send('POST', '/v1/customer/auth/links', link)
  const visitor = await createVisitor(browser)
  const { page } = visitor
  await page.goto(url as string)
  await signIn(page, email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(/\/customer\/manage\/[^/?]+$/)
  await visitor.close()
})

test('explains a request of an unknown client on a page of the issuer', async () => {
  const visitor = await createVisitor(browser)
  const { page } = visitor
  const url = new URL(await authorizeUrl())
  url.searchParams.set('client_id', 'unknown')
  await page.goto(url.href)
  await page.getByText('client is invalid').waitFor()
  // The stylesheet comes from the hosted origin. Accessibility is checked on the other pages.
  const padding = `getComputedStyle(document.querySelector('.card')).paddingTop`
  expect(await page.evaluate(padding)).toBe('20px')
  await visitor.close()
})

test('signs a user of the console in with an account of the company', async () => {
  const email = 'owner@example.com'
  await createConsoleUser(stack, providerId, { email, name: 'Olivia', role: 'owner' })
  const visitor = await createVisitor(browser)
  const { page } = visitor
  company.account = { sub: 'stranger', email: 'stranger@example.com', email_verified: true }
  await page.goto(`${hosted}/console/sandbox/keys`)
  await page.getByRole('button', { name: 'Continue with Acme' }).click()
  await page.getByText('belongs to no user of the console').waitFor()
  await visitor.inspect('console-sign-in-openid')
  company.account = { sub: 'owner', email, email_verified: true }
  // The first sign-in has left a session at the issuer, which a company's issuer would end.
  await page.context().clearCookies({ domain: '127.0.0.1' })
  await page.getByRole('button', { name: 'Continue with Acme' }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/sandbox/keys')
  await visitor.close()
})
