import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@tollgate/schemas/json-object'

export type Seen = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly message: JsonObject
  /** The body as received. */
  readonly text: string
}

export type Respond = (seen: Seen, response: ServerResponse) => unknown

/** An MCP server whose answers the test writes byte by byte, and that records the received requests. */
type ScriptedOrigin = {
  readonly url: string
  readonly seen: Seen[]
  respond: Respond
  stop(): Promise<void>
}

export async function startScriptedOrigin(): Promise<ScriptedOrigin> {
  const server = createServer((request, response) => void serve(request, response))
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const message = text === '' ? {} : (JSON.parse(text) as JsonObject)
    const seen = { method: request.method ?? '', headers: request.headers, message, text }
    origin.seen.push(seen)
    await origin.respond(seen, response)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin: ScriptedOrigin = {
    url: `http://127.0.0.1:${port}/mcp`,
    seen: [],
    respond: respondAsServer(),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return origin
}

export function sendResult(
  response: ServerResponse,
  { message }: Seen,
  result: JsonObject,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], result }))
}

export function openEvents(
  response: ServerResponse,
): (message: JsonObject, before?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  return (message, before = '') => {
    response.write(`${before}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
  }
}

export const plainTools = [
  { name: 'search', description: 'Finds things', inputSchema: { type: 'object' } },
  { name: 'fetch', inputSchema: { type: 'object' }, annotations: { title: null } },
]

/** Returns a well-behaved server of both eras, with sessions in the older one. */
export function respondAsServer(session = 'origin-session-1'): Respond {
  return (seen, response) => {
    const { message } = seen
    const params = message['params'] as JsonObject | undefined
    switch (message['method']) {
      case 'initialize':
        return sendResult(
          response,
          seen,
          {
            protocolVersion: params?.['protocolVersion'],
            capabilities: { logging: {}, tasks: {} },
            serverInfo: { name: 'origin', version: '1' },
            instructions: 'Be kind.',
          },
          { 'mcp-session-id': session },
        )
      case 'tools/list':
        return sendResult(response, seen, {
          resultType: 'complete',
          tools: plainTools,
          cacheScope: 'public',
          ttlMs: 5,
        })
      case 'tools/call':
        return sendResult(response, seen, {
          resultType: 'complete',
          content: [{ type: 'text', text: 'found' }],
          _meta: { kept: true },
        })
      default:
        return message['id'] === undefined
          ? response.writeHead(202).end()
          : sendResult(response, seen, { resultType: 'complete' })
    }
  }
}
