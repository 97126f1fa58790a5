import {
  McpServer,
  ResourceNotFoundError,
  type RequestStateCodec,
} from '@modelcontextprotocol/server'
import { addConnectionTools } from './connection-tools.ts'
import { addContentTools } from './content-tools.ts'
import { addConversationTools } from './conversation-tools.ts'
import { addInputRequiredTools } from './input-required-tools.ts'
import type { OriginControls } from './origin-controls.ts'
import { addPrompts, addResources } from './resources-and-prompts.ts'

export type FixtureServerOptions = {
  readonly era: 'legacy' | 'modern'
  readonly states: RequestStateCodec<{ readonly step: number }>
  readonly controls: OriginControls
}

/** Returns a server with every tool, resource and prompt that the conformance suite names. */
export function createFixtureServer({ era, states, controls }: FixtureServerOptions): McpServer {
  const server = new McpServer(
    { name: 'fixture-origin', version: '1.0.0' },
    {
      capabilities: { logging: {}, completions: {}, resources: { subscribe: true } },
      instructions: 'Call the tools that the conformance suite names.',
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  )
  addContentTools(server)
  addConversationTools(server, era === 'legacy')
  addInputRequiredTools(server, states)
  addConnectionTools(server, era, controls)
  addResources(server)
  addPrompts(server)
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }))
  if (era === 'legacy') {
    const refuseUnknown = (uri: string) => {
      if (!uri.startsWith('test://')) throw new ResourceNotFoundError(uri)
      return {}
    }
    server.server.setRequestHandler('resources/subscribe', ({ params }) =>
      refuseUnknown(params.uri),
    )
    server.server.setRequestHandler('resources/unsubscribe', ({ params }) =>
      refuseUnknown(params.uri),
    )
  }
  return server
}
