import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import {
  isInitializeRequest,
  type EventStore,
  type JSONRPCMessage,
  type McpServer,
} from '@modelcontextprotocol/server'

type Session = { readonly server: McpServer; readonly transport: NodeStreamableHTTPServerTransport }

export type LegacySessions = {
  serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>
  announcePrompts(): void
  closeAll(): Promise<void>
}

/** Creates sessions of the versions before 2026-07-28. They last as long as this process. */
export function createLegacySessions(createServer: () => McpServer): LegacySessions {
  const sessions = new Map<string, Session>()

  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const server = createServer()
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createMemoryEventStore(),
      retryInterval: 100,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await server.connect(transport)
    return transport
  }

  return {
    async serve(request, response, body) {
      const id = request.headers['mcp-session-id']
      if (id === undefined) {
        if (isInitializeRequest(body)) {
          await (await open()).handleRequest(request, response, body)
        } else {
          refuse(response, 400, 'Bad Request: No valid session ID provided')
        }
        return
      }
      const session = sessions.get(String(id))
      if (session === undefined) refuse(response, 404, 'Session not found')
      else await session.transport.handleRequest(request, response, body)
    },
    announcePrompts() {
      for (const { server } of sessions.values()) server.sendPromptListChanged()
    },
    async closeAll() {
      const closing = [...sessions.values()].map(({ server }) => server.close())
      sessions.clear()
      await Promise.all(closing)
    },
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
}

/** Creates a store of the events of one session, so that a client can resume a closed stream. */
function createMemoryEventStore(): EventStore {
  const events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = []
  return {
    storeEvent: (streamId, message) => Promise.resolve(String(events.push({ streamId, message }))),
    getStreamIdForEventId: (id) => Promise.resolve(events[Number(id) - 1]?.streamId),
    replayEventsAfter: async (lastId, { send }) => {
      const streamId = events[Number(lastId) - 1]?.streamId ?? ''
      for (const [index, event] of [...events].entries()) {
        const isLater = index >= Number(lastId) && event.streamId === streamId
        // The priming event of a stream contains no message.
        if (isLater && 'jsonrpc' in event.message) await send(String(index + 1), event.message)
      }
      return streamId
    },
  }
}
