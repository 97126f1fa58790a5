import type { CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { faults } from '../../../mcp-proxy/test/fixture-origin/faulty-responses.ts'
import { startFixtureOrigin } from '../../../mcp-proxy/test/fixture-origin/start-fixture-origin.ts'
import { startEverything } from '../../../mcp-proxy/test/start-everything.ts'
import { enterCard } from '../pages/paying.ts'
import { createVisitor } from '../pages/visitor.ts'
import { startMcpStack, type PaidServer } from './mcp-stack.ts'
import {
  clientKinds,
  connect,
  type ClientKind,
  type ConnectOptions,
  type McpClient,
} from './official-clients.ts'
import { showView } from './view-host.ts'
import { readStoredCode, signInByForms } from './sign-in.ts'
import { TestOAuthProvider } from './test-oauth-provider.ts'

const cap = 3
const free = { key: 'free', name: 'Free', price: 0, currency: 'USD', limit: cap }
const pro = { key: 'pro', name: 'Pro', price: 900, currency: 'USD', billingCycle: 'monthly' }
const virtualTools = ['get_user_info', 'upgrade', 'manage_account']

let customerRef: string
const clients: McpClient[] = []

const [stack, origin] = await Promise.all([startMcpStack(), startFixtureOrigin()])
const server = await stack.serve(origin.url, { plans: [free, pro] })
afterAll(async () => {
  await stack.stop()
  await origin.stop()
})

beforeEach(async () => {
  customerRef = await stack.createCustomer()
  await stack.activate(server, customerRef, 'free')
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

async function connectAs(
  kind: ClientKind,
  options: Partial<ConnectOptions> = {},
  to: PaidServer = server,
): Promise<McpClient> {
  const provider = new TestOAuthProvider()
  provider.stored = { access_token: await stack.tokenOf(to, customerRef), token_type: 'Bearer' }
  const client = await connect(kind, { url: to.proxyUrl, provider, ...options })
  clients.push(client)
  return client
}

/** Waits until the calls of the customer are counted as expected. */
function expectCalls(expected: { success?: number; fail?: number; paywall?: number }) {
  const read = async () => ({
    success: await stack.countCalls(customerRef, 'success'),
    fail: await stack.countCalls(customerRef, 'fail'),
    paywall: await stack.countCalls(customerRef, 'paywall'),
  })
  return expect.poll(read).toEqual({ success: 0, fail: 0, paywall: 0, ...expected })
}

describe.each(clientKinds)('%s', (kind) => {
  it('uses the newest version that client and origin support', async () => {
    const client = await connectAs(kind)
    expect(client.version).toBe(kind === 'client that negotiates' ? '2026-07-28' : '2025-11-25')
  })

  it('lists the tools of the origin and the proxy, without a charge', async () => {
    const client = await connectAs(kind)
    const names = (await client.listTools()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['test_simple_text', ...virtualTools]))
    const info = await client.callTool('get_user_info')
    expect(JSON.parse(info.content[0]!.text!)).toMatchObject({ user: { reference: customerRef } })
    for (const name of ['upgrade', 'manage_account', 'upgrade_plan', 'manage_purchase']) {
      const { content, isError } = await client.callTool(name)
      expect([name, isError ?? false]).toEqual([name, false])
      expect(content[0]!.text).toContain('/customer/connect/')
    }
    await client.callTool('test_simple_text')
    await expectCalls({ success: 1 })
  })

  it('shows the paywall at the cap, even if a tool declares an output schema', async () => {
    const client = await connectAs(kind)
    await client.listTools()
    for (let call = 0; call < cap; call += 1) {
      const { structuredContent } = await client.callTool('test_structured_content', {
        city: 'Oslo',
      })
      expect(structuredContent).toEqual({ city: 'Oslo', degrees: 21.5 })
    }
    const before = origin.calls.length
    for (const name of ['test_structured_content', 'test_simple_text']) {
      const { isError, structuredContent, content } = await client.callTool(name, { city: 'Oslo' })
      expect(isError ?? false).toBe(false)
      expect(structuredContent).toMatchObject({
        kind: 'payment_required',
        product: server.productRef,
      })
      const { checkoutUrl, message } = structuredContent as Record<string, string>
      expect(checkoutUrl).toMatch(/\/customer\/connect\/[\w-]+$/)
      expect(content[0]!.text).toBe(message)
      expect(message).toContain(checkoutUrl)
    }
    expect(origin.calls.length).toBe(before)
    await expectCalls({ success: cap, paywall: 2 })
  })

  it('asks a client that opens URLs to open the checkout at the cap', async () => {
    const answer = vi.fn(() => ({ action: 'decline' as const }))
    const client = await connectAs(kind, { answer, opensUrls: true })
    for (let call = 0; call < cap; call += 1) await client.callTool('test_simple_text')
    const call = client.callTool('test_simple_text')
    const url = expect.stringMatching(/\/customer\/connect\/[\w-]+$/) as string
    if (kind === 'client that negotiates') {
      // If the user declines, the call ends as for clients that cannot open URLs.
      expect((await call).structuredContent).toMatchObject({ kind: 'payment_required' })
      expect(answer).toHaveBeenCalledWith(expect.objectContaining({ mode: 'url', url }))
    } else {
      const elicitations = [expect.objectContaining({ mode: 'url', url }) as object]
      await expect(call).rejects.toMatchObject({ code: -32042, data: { elicitations } })
    }
    await expectCalls({ success: cap, paywall: 1 })
  })

  it('shows the plans in a client with views, and opens the checkout from there', async () => {
    const plain = (await (await connectAs(kind)).listTools()).find(({ name }) => name === 'upgrade')
    expect(plain).not.toHaveProperty('_meta')
    const client = await connectAs(kind, { showsViews: true })
    const upgrade = (await client.listTools()).find(({ name }) => name === 'upgrade')
    const { resourceUri } = upgrade!._meta!['ui'] as { resourceUri: string }
    const html = (await client.readResource(resourceUri))!
    for (let call = 0; call <= cap; call += 1) {
      const { structuredContent } = await client.callTool('test_simple_text')
      const message = expect.stringContaining('Use the tool `upgrade`') as string
      if (call === cap) expect(structuredContent).toMatchObject({ message })
    }
    const result = await client.callTool('upgrade')
    let opened = ''
    const { browser } = stack.paying
    const view = await showView(browser, { html, openLink: (url) => ((opened = url), {}) })
    await view.showResult(result as CallToolResult)
    await view.frame.getByText('Your plan: Free').waitFor()
    await view.frame.getByText('$9.00 per month').waitFor()
    await view.frame.getByRole('button').click()
    await expect.poll(() => opened).toMatch(/\/customer\/connect\/[\w-]+$/)
    await view.close()
  })

  it('cancels a call at the origin, without a charge', async () => {
    const client = await connectAs(kind)
    const abort = new AbortController()
    const onProgress = () => abort.abort()
    const call = client.callTool('test_slow', { steps: 500 }, { signal: abort.signal, onProgress })
    await expect(call).rejects.toThrow()
    await expect.poll(() => origin.calls.at(-1)).toMatchObject({ isCancelled: true })
    await expectCalls({ fail: 1 })
  })

  it('forwards progress during a call', async () => {
    const client = await connectAs(kind)
    const at: number[] = []
    const progress: number[] = []
    const onProgress = (value: number) => (progress.push(value), at.push(performance.now()))
    await client.callTool('test_slow', { steps: 10 }, { onProgress })
    expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    // The 10 steps of 20 ms would arrive at once if the stream were buffered.
    expect(at.at(-1)! - at[0]!).toBeGreaterThan(100)
    await expectCalls({ success: 1 })
  })

  it("announces changes of the origin's tool list", async () => {
    const client = await connectAs(kind)
    await client.listenToTools()
    const hasTool = async () =>
      (await client.listTools()).some(({ name }) => name === 'test_dynamic_tool')
    const hadTool = await hasTool()
    await client.callTool('test_trigger_tool_change')
    await expect.poll(() => client.listChanges()).toBeGreaterThan(0)
    await expect.poll(hasTool).toBe(!hadTool)
  })

  it("forwards the origin's questions to the user, and bills the call once", async () => {
    const answer = vi.fn(() => ({ action: 'accept' as const, content: { name: 'Ada' } }))
    const client = await connectAs(kind, { answer })
    const { content } = await client.callTool('test_input_required_result_elicitation')
    expect(content[0]!.text).toBe('Hello, Ada!')
    expect(answer).toHaveBeenCalledOnce()
    await expectCalls({ success: 1 })
  })

  it('continues after the origin has lost its sessions', async () => {
    const client = await connectAs(kind)
    await client.callTool('test_simple_text')
    await origin.forgetSessions()
    expect((await client.callTool('test_simple_text')).isError ?? false).toBe(false)
    await expectCalls({ success: 2 })
  })

  it('continues after a restart of the proxy', async () => {
    const client = await connectAs(kind)
    await client.callTool('test_simple_text')
    await stack.stopProxy()
    await stack.startProxy()
    expect((await client.callTool('test_simple_text')).isError ?? false).toBe(false)
    await expectCalls({ success: 2 })
  })

  it('reports an invalid response of the origin at once, without a charge', async () => {
    const client = await connectAs(kind)
    for (const how of faults) {
      const call = client.callTool('test_faulty_response', { how }, { timeoutMs: 5_000 })
      const outcome = await call.then(
        ({ isError }) => (isError === true ? 'failed' : 'succeeded'),
        (error: Error) => (/timed out/i.test(error.message) ? 'timed out' : 'failed'),
      )
      expect([how, outcome]).toEqual([how, 'failed'])
    }
    await expectCalls({ fail: faults.length })
  })
})

it('allows tools only for their plans, and bills cancelled calls as configured', async () => {
  const beta = { key: 'beta', name: 'Beta', price: 0, currency: 'USD' }
  const behind = await stack.serve(origin.url, {
    plans: [free, beta],
    tools: [
      { name: 'test_simple_text', planKeys: ['beta'], onlyListedPlans: true },
      { name: 'test_slow', planKeys: ['free'], cancelledCalls: 'always' },
    ],
  })
  const kindOf = async (client: McpClient) =>
    (await client.callTool('test_simple_text')).structuredContent?.['kind']
  await stack.activate(behind, customerRef, 'free')
  const client = await connectAs('sdk', {}, behind)
  expect(await kindOf(client)).toBe('payment_required')
  const abort = new AbortController()
  const onProgress = () => abort.abort()
  const call = client.callTool('test_slow', { steps: 500 }, { signal: abort.signal, onProgress })
  await expect(call).rejects.toThrow()
  await expectCalls({ success: 1, paywall: 1 })
  const listed = await client.listTools()
  customerRef = await stack.createCustomer()
  await stack.activate(behind, customerRef, 'beta')
  const other = await connectAs('sdk', {}, behind)
  expect(await kindOf(other)).toBeUndefined()
  // The list is the same for every plan, so a purchase does not change it.
  expect(await other.listTools()).toEqual(listed)
})

it('continues after a restart of the official example server', async () => {
  const example = await startEverything()
  const behind = await stack.serve(example.url)
  const client = await connectAs('sdk', {}, behind)
  const echo = async () => (await client.callTool('echo', { message: 'hello' })).content[0]!.text
  expect(await echo()).toContain('hello')
  await example.stop()
  const again = await startEverything(Number(new URL(example.url).port))
  expect(await echo()).toContain('hello')
  await again.stop()
})

it.each([
  ['sdk', 'client_secret_basic'],
  ['client with sessions', 'none'],
  ['client that negotiates', 'client_secret_post'],
] as const)(
  'signs in, reaches the paywall, buys in the browser and continues: %s, authenticated by %s',
  async (kind, authMethod) => {
    const email = `${kind.replaceAll(' ', '-')}@example.com`
    const sql = stack.paying.stack.database.in('sandbox')
    const readCode = (of: string) => readStoredCode(sql, of)
    const provider = new TestOAuthProvider({ authMethod })
    const client = await connect(kind, {
      url: server.proxyUrl,
      provider,
      signIn: (url) => signInByForms(url, { email, redirectUrl: provider.redirectUrl, readCode }),
    })
    clients.push(client)
    await client.listTools()
    for (let call = 0; call < cap; call += 1) {
      expect((await client.callTool('test_simple_text')).structuredContent).toBeUndefined()
    }
    const refused = await client.callTool('test_structured_content', { city: 'Oslo' })
    expect(refused.structuredContent).toMatchObject({ kind: 'payment_required' })

    const visitor = await createVisitor(stack.paying.browser)
    const { page } = visitor
    await page.goto(refused.structuredContent!['checkoutUrl'] as string)
    await page.locator('input[name="email"]').fill(email)
    await page.locator('form:has(input[name="email"]) button[type="submit"]').click()
    await page.locator('input[name="code"]').waitFor()
    await page.locator('input[name="code"]').fill(await readCode(email))
    await page.locator('form:has(input[name="code"]) button[type="submit"]').click()
    await page.locator('form[action$="/continue"] button').click()
    await page.getByText('Choose', { exact: true }).click()
    await page.getByRole('button', { name: 'Continue to payment' }).click()
    await enterCard(page, '4242424242424242')
    await page.waitForURL(/\/customer\/checkout\/cs_\w+/)
    await visitor.close()

    await expect
      .poll(
        async () =>
          (await client.callTool('test_structured_content', { city: 'Oslo' })).structuredContent,
      )
      .toEqual({ city: 'Oslo', degrees: 21.5 })
  },
)
