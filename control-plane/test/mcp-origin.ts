import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

export type OriginTool = { readonly name: string; readonly description?: string }

/** A real MCP server over streamable HTTP. The test may change its tools. */
export type McpOrigin = {
  readonly url: string
  tools: readonly OriginTool[]
  /** The header that a request must contain, with its value. */
  auth: { readonly header: string; readonly value: string } | undefined
  /** Number of tools in one page of the list. */
  pageSize: number
  /** Headers of the requests so far. */
  readonly seen: IncomingMessage['headers'][]
  stop(): Promise<void>
}

export async function startMcpOrigin(tools: readonly OriginTool[] = []): Promise<McpOrigin> {
  const handler = createMcpHandler(() => serverOf(origin))
  const server = createServer((request, response) => void answer(request, response))
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    origin.seen.push(request.headers)
    const { auth } = origin
    if (auth !== undefined && request.headers[auth.header.toLowerCase()] !== auth.value) {
      response.writeHead(401).end(`wrong: ${JSON.stringify(request.headers)}`)
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const answered = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    )
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    for await (const chunk of answered.body ?? []) response.write(chunk)
    response.end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin: McpOrigin = {
    url: `http://127.0.0.1:${port}/mcp`,
    tools,
    auth: undefined,
    pageSize: 100,
    seen: [],
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return origin
}

function serverOf(origin: McpOrigin): Server {
  const server = new Server({ name: 'origin', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const to = from + origin.pageSize
    const page = origin.tools.slice(from, to)
    return {
      tools: page.map((tool) => ({ ...tool, inputSchema: { type: 'object' as const } })),
      ...(to < origin.tools.length && { nextCursor: String(to) }),
    }
  })
  return server
}
