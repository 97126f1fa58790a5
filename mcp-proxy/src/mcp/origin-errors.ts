import { isPlainObject } from '@tollgate/schemas/json-object'
import { errorCodes, errorMessage, type Message, type MessageId } from '../protocol/messages.ts'
import type { RelayEnd } from './relay.ts'

export type Unanswered = Exclude<RelayEnd, { kind: 'answered' }>

/** Codes that the specification keeps for faults of a request itself: their status is part of what they say. */
function isOfProtocol(code: unknown): boolean {
  return typeof code === 'number' && code <= -32_020 && code >= -32_099
}

/**
 * Returns the JSON-RPC error for a request that got no response, and the status it is sent with. An origin that refuses our
 * credentials must not look as if the client's token were refused: the client would go through sign-in again and again.
 */
export function errorOf(
  end: Unanswered,
  id: MessageId,
): { readonly status: number; readonly message: Message } {
  switch (end.kind) {
    case 'failed':
      return { status: 200, message: errorMessage(id, errorCodes.internal, end.reason) }
    case 'cancelled':
      return {
        status: 200,
        message: errorMessage(id, errorCodes.internal, 'The request was cancelled.'),
      }
    case 'refused': {
      const { status, error } = end
      if (status === 401 || status === 403) {
        const text = "The MCP server refused the proxy's credentials."
        return { status: 200, message: errorMessage(id, errorCodes.internal, text) }
      }
      if (error === undefined) {
        const text = `The MCP server refused the request with status ${status}.`
        return { status: 200, message: errorMessage(id, errorCodes.internal, text) }
      }
      const inner = error['error']
      const code = isPlainObject(inner) ? inner['code'] : undefined
      return { status: isOfProtocol(code) ? status : 200, message: { ...error, id } }
    }
  }
}
