import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
  toWebRequest,
  type NodeIncomingMessageLike,
} from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  createRequestStateCodec,
  isLegacyRequest,
} from '@modelcontextprotocol/server'
import { createFixtureServer } from './create-fixture-server.ts'
import { findFault, sendFault } from './faulty-responses.ts'
import { createLegacySessions } from './legacy-sessions.ts'
import type { OriginControls, ReceivedCall } from './origin-controls.ts'

export type FixtureOrigin = {
  readonly url: string
  readonly port: number
  /** Every `tools/call` that the origin received, in order. */
  readonly calls: readonly ReceivedCall[]
  /** Headers of the requests, in order. */
  readonly requests: readonly IncomingMessage['headers'][]
  /** Drops all sessions, as a restart would. */
  forgetSessions(): Promise<void>
  stop(): Promise<void>
}

type FixtureOptions = {
  /** Default: any free port. */
  readonly port?: number
  /** A header that the origin requires on each request. */
  readonly credential?: { readonly header: string; readonly value: string }
}

/** Starts an MCP server of both eras on loopback, with sessions for the older versions and without for 2026-07-28. */
export async function startFixtureOrigin(options: FixtureOptions = {}): Promise<FixtureOrigin> {
  const calls: ReceivedCall[] = []
  const requests: IncomingMessage['headers'][] = []
  const controls: OriginControls = {
    calls,
    hasDynamicTool: false,
    dynamicTools: new Set(),
    announce: (changed) => {
      if (changed === 'tools') return modern.notify.toolsChanged()
      modern.notify.promptsChanged()
      sessions.announcePrompts()
    },
  }
  const states = createRequestStateCodec<{ readonly step: number }>({ key: randomBytes(32) })
  const modern = createMcpHandler(({ era }) => createFixtureServer({ era, states, controls }), {
    legacy: 'reject',
  })
  const sessions = createLegacySessions(() =>
    createFixtureServer({ era: 'legacy', states, controls }),
  )
  const serveModern = toNodeHandler(modern)
  const hasValidHost = localhostHostValidation()
  const hasValidOrigin = localhostOriginValidation()

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(request.headers)
    if (!hasValidHost(request, response) || !hasValidOrigin(request, response)) return
    const { credential } = options
    if (credential !== undefined && request.headers[credential.header] !== credential.value) {
      response.writeHead(401).end()
      return
    }
    // The type of Node allows an undefined `method`, which the type of the package does not.
    const incoming = request as NodeIncomingMessageLike
    const text = await readText(request)
    const body = parseJson(text)
    recordCall(calls, body)
    const fault = findFault(body)
    if (fault !== undefined) return sendFault(fault, response)
    const probe = await toWebRequest(incoming, body ?? {})
    const isLegacy = request.method !== 'POST' || (await isLegacyRequest(probe, body))
    if (isLegacy) await sessions.serve(request, response, body)
    else await serveModern(incoming, response, body)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    calls,
    requests,
    forgetSessions: () => sessions.closeAll(),
    async stop() {
      server.closeAllConnections()
      server.close()
      await Promise.all([modern.close(), sessions.closeAll()])
    },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function recordCall(calls: ReceivedCall[], body: unknown): void {
  const messages = (Array.isArray(body) ? body : [body]) as readonly (
    { method?: string; params?: { name?: string; arguments?: Record<string, unknown> } } | undefined
  )[]
  for (const message of messages) {
    if (message?.method !== 'tools/call') continue
    const { name, arguments: given = {} } = message.params ?? {}
    calls.push({ toolName: String(name), arguments: given, isCancelled: false })
  }
}
