import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, inputRequired, McpServer, Server } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { mcpPaywall, type McpPaywallOptions } from '../src/mcp.ts'
import type { Shop, SoldProduct } from './sold-product.ts'

const city = z.object({ name: z.string() }).meta({ id: 'City' })

const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] })

/** Tests that apply to MCP servers only. */
export function describeMcp(shop: () => Shop): void {
  async function connect(product: SoldProduct, options?: McpPaywallOptions) {
    const customer = () => product.customer
    const paid = { customer, publicTools: ['status'], ...options }
    const server = mcpPaywall(product.paywall, new McpServer({ name: 'paid', version: '1' }), paid)
    server.registerTool('status', { outputSchema: z.object({ up: z.boolean() }) }, () => ({
      ...textResult('up'),
      structuredContent: { up: true },
    }))
    const outputSchema = z.object({ from: city, to: city })
    server.registerTool('route', { outputSchema }, () => ({
      ...textResult('a to b'),
      structuredContent: { from: { name: 'a' }, to: { name: 'b' } },
    }))
    server.registerTool('slow', {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return textResult('done')
    })
    const [near, far] = InMemoryTransport.createLinkedPair()
    await server.connect(far)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(near)
    return { client, server }
  }

  test('returns refusals of tools with an output schema to the client, and leaves public tools unchanged', async () => {
    const product = await shop().sell(1, { checkoutUrl: () => 'https://shop.example/plans' })
    const { client, server } = await connect(product, { recoveryTools: ['upgrade'] })
    const { tools } = await client.listTools()
    const schemas = Object.fromEntries(tools.map((tool) => [tool.name, tool.outputSchema]))
    expect(schemas['status']).toMatchObject({ properties: { up: { type: 'boolean' } } })
    expect(schemas['route']).toMatchObject({ type: 'object', anyOf: [{}, {}] })
    const answers = [
      await client.callTool({ name: 'route' }),
      await client.callTool({ name: 'route' }),
    ]
    const message =
      'You have reached the limit of your plan. Upgrade to continue: https://shop.example/plans. Or call the tool upgrade.'
    expect(answers.map(({ structuredContent }) => structuredContent)).toMatchObject([
      { from: { name: 'a' } },
      { kind: 'payment_required', checkoutUrl: 'https://shop.example/plans', message },
    ])
    // Exactly the fields of a `payment_required` refusal.
    expect(Object.keys(answers[1]?.structuredContent ?? {}).sort()).toEqual([
      'checkoutUrl',
      'kind',
      'message',
      'product',
      'productDetails',
    ])
    expect(answers[1]?.content).toEqual([{ type: 'text', text: message }])
    await client.callTool({ name: 'status' })
    await expect.poll(() => shop().stored(product.customer, 'all')).toBe(2)
    await server.close()
  })

  test('does not count a call that was cancelled before its response', async () => {
    const product = await shop().sell(1)
    const { client, server } = await connect(product)
    const cancelling = AbortSignal.timeout(100)
    await expect(client.callTool({ name: 'slow' }, { signal: cancelling })).rejects.toThrow()
    await expect.poll(() => shop().stored(product.customer, 'fail')).toBe(1)
    expect((await client.callTool({ name: 'slow' })).content).toEqual(textResult('done').content)
    expect(await product.left()).toBe(0)
    await server.close()
  })

  test('counts a call that asks for input once, with its last round', async () => {
    const product = await shop().sell(2)
    let rounds = 0
    const handler = createMcpHandler(() => {
      const capabilities = { capabilities: { tools: {} } }
      const server = new Server({ name: 'asking', version: '1' }, capabilities)
      mcpPaywall(product.paywall, server, { customer: () => product.customer })
      server.setRequestHandler('tools/call', () => {
        rounds += 1
        if (rounds > 1) return textResult('done')
        return inputRequired({ requestState: 'round 1' })
      })
      return server
    })
    const call = async (requestState?: string): Promise<unknown> => {
      const meta = 'io.modelcontextprotocol/'
      const _meta = {
        [`${meta}protocolVersion`]: '2026-07-28',
        [`${meta}clientCapabilities`]: {},
        [`${meta}clientInfo`]: { name: 'test', version: '1' },
      }
      const params = { name: 'ask', arguments: {}, _meta, ...(requestState && { requestState }) }
      const response = await handler.fetch(
        new Request('http://127.0.0.1/mcp', {
          method: 'POST',
          headers: {
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/call',
            'mcp-name': 'ask',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        }),
      )
      return await response.json()
    }
    expect(await call()).toMatchObject({ result: { resultType: 'input_required' } })
    expect(await product.left()).toBe(2)
    expect(await call('round 1')).toMatchObject({ result: { content: [{ text: 'done' }] } })
    expect(await product.left()).toBe(1)
    await expect.poll(() => shop().stored(product.customer, 'all')).toBe(1)
  })

  test('throws if tools were registered before', async () => {
    const product = await shop().sell(1)
    const server = new McpServer({ name: 'late', version: '1' })
    server.registerTool('early', {}, () => textResult(''))
    expect(() => mcpPaywall(product.paywall, server)).toThrow('tools/list')
  })
}
