import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { Client as SessionClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as SessionClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer as SessionServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { z } from 'zod'
import type { Paywall } from '../src/create-paywall.ts'
import { expressPaywall } from '../src/express.ts'
import { fastifyPaywall } from '../src/fastify.ts'
import { honoPaywall } from '../src/hono.ts'
import { idempotencyKeyMeta, mcpPaywall } from '../src/mcp.ts'

export type HostCall = {
  readonly customer?: string
  /** Idempotency key that the client sends. */
  readonly key?: string
  /** What the handler does. `slow` waits 150 ms and then succeeds. */
  readonly does?: 'ok' | 'slow' | 'throw'
  readonly text?: string
  /** Aborts the request of the client. */
  readonly signal?: AbortSignal
}

type HostAnswer = {
  readonly kind: 'served' | 'paywalled' | 'no_customer' | 'failed' | 'unavailable' | 'forbidden'
  readonly body: Readonly<Record<string, unknown>>
}

/** A provider's server that serves paid calls. */
export type Host = {
  readonly call: (call: HostCall) => Promise<HostAnswer>
  readonly stop: () => Promise<void>
}

export type Framework = 'express' | 'fastify' | 'hono' | 'mcp sdk' | 'mcp server'

/** The handler of every host. */
async function work(given: unknown): Promise<{ done: string }> {
  const { does, text = '' } = (given ?? {}) as HostCall
  if (does === 'slow') await new Promise((resolve) => setTimeout(resolve, 150))
  if (does === 'throw') throw new Error('It broke')
  return { done: text }
}

export function startHost(framework: Framework, paywall: Paywall): Promise<Host> {
  switch (framework) {
    case 'express':
      return startExpress(paywall)
    case 'fastify':
      return startFastify(paywall)
    case 'hono':
      return startHono(paywall)
    case 'mcp sdk':
      return startSessionMcp(paywall)
    case 'mcp server':
      return startStatelessMcp(paywall)
  }
}

async function startExpress(paywall: Paywall): Promise<Host> {
  const app = express()
  app.use(express.json())
  app.post('/work', expressPaywall(paywall), async (request, response) => {
    response.json(await work(request.body))
  })
  app.use((error: Error, _: unknown, response: express.Response, next: () => void) => {
    if (response.headersSent) next()
    else response.status(500).json({ message: error.message })
  })
  return httpHost(app.listen(0, '127.0.0.1'))
}

async function startFastify(paywall: Paywall): Promise<Host> {
  const app = Fastify()
  app.addHook('preHandler', fastifyPaywall(paywall))
  app.post('/work', (request) => work(request.body))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return httpHost(app.server)
}

async function startHono(paywall: Paywall): Promise<Host> {
  const app = new Hono()
  app.use(honoPaywall(paywall))
  app.post('/work', async (context) => context.json(await work(await context.req.json())))
  app.onError((error, context) => context.json({ message: error.message }, 500))
  return httpHost(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
}

const kinds: Readonly<Record<number, HostAnswer['kind']>> = {
  200: 'served',
  401: 'no_customer',
  402: 'paywalled',
  403: 'forbidden',
  500: 'failed',
  503: 'unavailable',
}

async function httpHost(server: Server): Promise<Host> {
  const url = await urlOf(server)
  return {
    async call({ customer, key, signal, ...body }) {
      const response = await fetch(`${url}/work`, {
        ...(signal && { signal }),
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(customer && { 'x-customer-ref': customer }),
          ...(key && { 'idempotency-key': key }),
        },
        body: JSON.stringify(body),
      })
      const answer = (await response.json()) as HostAnswer['body']
      return { kind: kinds[response.status]!, body: answer }
    },
    stop: () => stop(server),
  }
}

const tool = { inputSchema: { does: z.string().optional(), text: z.string().optional() } }
const output = { outputSchema: { done: z.string() } }

async function toolResult(given: unknown) {
  const done = await work(given)
  return { content: [{ type: 'text' as const, text: done.done }], structuredContent: done }
}

async function startSessionMcp(paywall: Paywall): Promise<Host> {
  const server = createServer((request, response) => {
    const mcp = mcpPaywall(paywall, new SessionServer({ name: 'paid', version: '1' }))
    mcp.registerTool('work', { ...tool, ...output }, toolResult)
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => void transport.close())
    void mcp
      .connect(transport as Parameters<typeof mcp.connect>[0])
      .then(() => transport.handleRequest(request, response))
  }).listen(0, '127.0.0.1')
  const url = new URL(await urlOf(server))
  return mcpHost(server, async (headers) => {
    const client = new SessionClient({ name: 'test', version: '1' })
    const transport = new SessionClientTransport(url, { requestInit: { headers } })
    await client.connect(transport)
    return client
  })
}

async function startStatelessMcp(paywall: Paywall): Promise<Host> {
  const handler = createMcpHandler(() => {
    const mcp = mcpPaywall(paywall, new McpServer({ name: 'paid', version: '1' }))
    const schemas = {
      inputSchema: z.object(tool.inputSchema),
      outputSchema: z.object(output.outputSchema),
    }
    mcp.registerTool('work', schemas, toolResult)
    return mcp
  })
  const fetch = (request: Request) => handler.fetch(request)
  const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }) as Server
  const url = new URL(await urlOf(server))
  return mcpHost(server, async (headers) => {
    const client = new StatelessClient(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    )
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    return client
  })
}

type McpClient = {
  listTools(): Promise<unknown>
  callTool(params: object): Promise<unknown>
  close(): Promise<void>
}

/** Uses one MCP client per customer. Each client lists the tools first, so that it validates results against their schemas. */
function mcpHost(
  server: Server,
  connect: (headers: Record<string, string>) => Promise<McpClient>,
): Host {
  const clients = new Map<string, Promise<McpClient>>()
  const clientOf = (customer = ''): Promise<McpClient> => {
    let client = clients.get(customer)
    client ??= connect(customer === '' ? {} : { 'x-customer-ref': customer }).then(
      async (connected) => {
        await connected.listTools()
        return connected
      },
    )
    clients.set(customer, client)
    return client
  }
  return {
    async call({ customer, key, ...given }) {
      const client = await clientOf(customer)
      const _meta = key && { [idempotencyKeyMeta]: key }
      const params = { name: 'work', arguments: given, ...(_meta && { _meta }) }
      const result = (await client.callTool(params)) as McpResult
      return { kind: kindOf(result), body: result.structuredContent ?? {} }
    },
    async stop() {
      for (const client of clients.values()) await (await client).close()
      await stop(server)
    },
  }
}

type McpResult = {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

function kindOf({ isError, content, structuredContent }: McpResult): HostAnswer['kind'] {
  if (!isError) return structuredContent?.['kind'] === undefined ? 'served' : 'paywalled'
  const text = content[0]?.text ?? ''
  if (text.includes('names no customer')) return 'no_customer'
  if (text.includes('cannot be checked')) return 'unavailable'
  return text.includes('not set up') ? 'forbidden' : 'failed'
}

async function urlOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
