import { isPlainObject } from '@tollgate/schemas/json-object'
import { errorCodes, errorMessage, type Message, type MessageId } from '../protocol/messages.ts'
import type { RelayEnd } from './relay.ts'

export type FailedRelay = Exclude<RelayEnd, { kind: 'answered' }>

/**
 * Returns whether the specification reserves a code for errors of the request itself. For these codes the HTTP status is part of
 * the error.
 */
function isProtocolError(code: unknown): boolean {
  return typeof code === 'number' && code <= -32_020 && code >= -32_099
}

/**
 * Returns the JSON-RPC error and the HTTP status for a request without a response. If the origin refuses the proxy's credentials,
 * the error must not look as if the client's token was refused: the client would repeat the sign-in endlessly.
 */
export function errorOf(
  end: FailedRelay,
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
      return { status: isProtocolError(code) ? status : 200, message: { ...error, id } }
    }
  }
}
