import { isPlainObject } from '@tollgate/schemas/json-object'
import { sendMessage } from '../http/send-response.ts'
import { errorCodes, errorMessage, idOf, paramsOf, type Message } from '../protocol/messages.ts'
import { membersOf } from '../protocol/raw-json.ts'
import { responseIn } from '../sessions/origin-sessions.ts'
import { sealSession } from '../sessions/session-state.ts'
import { clientCapabilitiesOf } from './client-capabilities.ts'
import { editResult } from './edit-result.ts'
import { errorOf } from './origin-errors.ts'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import { failureOf } from '../origin/origin-client.ts'
import type { HttpExchange } from './http-exchange.ts'

/** Begins a session of the origin, and wraps it in a session of the proxy that every replica can continue. */
export async function serveInitialize(
  exchange: HttpExchange,
  message: Message,
  text: string,
): Promise<void> {
  const { parts, server, response, trace } = exchange
  const id = idOf(message)!
  const request = { server, headers: trace, signal: AbortSignal.timeout(parts.config.callMs) }
  const answer = await parts.origin.post(request, text, id).catch(failureOf)
  const answered = await responseIn(answer, id).catch(() => undefined)
  const result = answered?.['result']
  if (answered === undefined || !isPlainObject(result)) {
    return sendMessage(response, 200, answered ?? refusalOf(answer, id))
  }
  const originSession = 'sessionId' in answer ? (answer.sessionId ?? null) : null
  const sessionId = sealSession(parts.sealer, {
    environment: server.environment,
    server: server.reference,
    customerRef: exchange.customerRef ?? '',
    originSession,
    version: String(result['protocolVersion']),
    process: parts.sessions.process,
    initialize: paramsOf(message),
    initializeText: paramsTextIn(text),
    expiresAtMs: parts.clock.now() + parts.config.sessionHours * 3_600_000,
  })
  if (sessionId === undefined) {
    const reason = 'The capabilities that the client announces are too long for a session.'
    return sendMessage(response, 200, errorMessage(id, errorCodes.invalidParams, reason))
  }
  response.setHeader('mcp-session-id', sessionId)
  const client = clientCapabilitiesOf('sessions', paramsOf(message)['capabilities'])
  const edited = editResult({ parts, server, client }, 'initialize', result)
  sendMessage(response, 200, { ...answered, result: edited })
}

function paramsTextIn(text: string): string {
  const params = membersOf(text).get('params')
  return params?.startsWith('{') === true ? params : '{}'
}

function refusalOf(answer: OriginAnswer, id: string | number): Message {
  if (answer.kind === 'refused') {
    const error = answer.error?.['error']
    if (isPlainObject(error) && error['code'] === errorCodes.unsupportedVersion) {
      const reason =
        'This MCP server supports only MCP 2026-07-28 and later. Use a client that supports it.'
      const data = isPlainObject(error['data']) ? error['data'] : {}
      return errorMessage(id, errorCodes.unsupportedVersion, reason, data)
    }
  }
  if (answer.kind === 'refused' || answer.kind === 'failed') return errorOf(answer, id).message
  const reason = 'The MCP server did not answer initialize.'
  return errorMessage(id, errorCodes.internal, reason)
}
