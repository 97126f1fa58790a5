import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'

/** One parsed JSON-RPC message. Members that the proxy does not know are kept. */
export type Message = JsonObject

export type MessageId = string | number

/** Codes of JSON-RPC and of MCP that the proxy itself sends. */
export const errorCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Code of the versions with sessions: the server does not accept the request. */
  refused: -32_000,
  unauthorized: -32_001,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const

export function isMessage(value: unknown): value is Message {
  return isPlainObject(value) && value['jsonrpc'] === '2.0' && (isCall(value) || isResponse(value))
}

/** Returns whether the message is a request or a notification. */
export function isCall(message: Message): boolean {
  return typeof message['method'] === 'string'
}

/** Returns whether the message is a request, which has an id and gets a response. */
export function isRequest(message: Message): boolean {
  return isCall(message) && idOf(message) !== undefined
}

export function isResponse(message: Message): boolean {
  return !isCall(message) && ('result' in message || 'error' in message)
}

export function methodOf(message: Message): string {
  const method = message['method']
  return typeof method === 'string' ? method : ''
}

/** Returns undefined for a notification, and for an id of a type that MCP does not allow. */
export function idOf(message: Message): MessageId | undefined {
  const id = message['id']
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

export function paramsOf(message: Message): JsonObject {
  const params = message['params']
  return isPlainObject(params) ? params : {}
}

export function metaOf(message: Message): JsonObject {
  const meta = paramsOf(message)['_meta']
  return isPlainObject(meta) ? meta : {}
}

export function resultMessage(id: MessageId, result: JsonObject): Message {
  return { jsonrpc: '2.0', id, result }
}

/** Returns an error response. `id` is null if the request has no id, or if its id could not be read. */
export function errorMessage(
  id: MessageId | null,
  code: number,
  message: string,
  data?: JsonObject,
): Message {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}
