import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendMessage } from '../http/send-response.ts'
import { errorCodes, errorMessage, idOf, type Message } from '../protocol/messages.ts'
import type { ServedServer } from '../servers/served-server.ts'
import { isSessionOf, readSession } from '../sessions/session-state.ts'
import { sessionKeyOf, type Session } from '../sessions/origin-sessions.ts'
import type { McpParts } from './served-request.ts'

/** One HTTP request to an MCP server, from a caller whose token was verified. */
export type HttpExchange = {
  readonly parts: McpParts
  readonly server: ServedServer
  readonly customerRef: string | undefined
  /** Key under which open requests and streams are counted. */
  readonly caller: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Trace headers for the origin. */
  readonly trace: Readonly<Record<string, string>>
}

/**
 * Returns the session that the request names, 'none' if it names no session, or 'unknown' for a session that is not the caller's.
 */
export function sessionOf({
  parts,
  server,
  customerRef,
  request,
}: HttpExchange): Session | 'none' | 'unknown' {
  const id = request.headers['mcp-session-id']
  if (id === undefined) return 'none'
  if (typeof id !== 'string') return 'unknown'
  const { sealer, clock, sessions } = parts
  const key = sessionKeyOf(id)
  const state = sessions.stateOf(key, () => readSession(sealer, id))
  if (state === undefined || sessions.hasEnded(key)) return 'unknown'
  return isSessionOf(state, server, customerRef ?? '', clock.now()) ? { key, state } : 'unknown'
}

/** Returns the headers listed in `names` that the client sent. */
export function sentHeaders(
  request: IncomingMessage,
  names: readonly string[],
): Record<string, string> {
  const sent: Record<string, string> = {}
  for (const name of names) {
    const value = request.headers[name]
    if (typeof value === 'string') sent[name] = value
  }
  return sent
}

export function acceptsStream(request: IncomingMessage): boolean {
  const accept = request.headers.accept
  return accept === undefined || accept.includes('text/event-stream') || accept.includes('*/*')
}

/** Answers with 404, the status by which MCP tells clients to begin a new session. */
export function sendUnknownSession({ response }: HttpExchange, message?: Message): void {
  const id = message === undefined ? null : (idOf(message) ?? null)
  const error = errorMessage(id, errorCodes.unauthorized, 'Session not found. Initialize again.')
  sendMessage(response, 404, error)
}
