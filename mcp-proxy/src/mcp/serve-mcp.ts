import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientAddressOf } from '@tollgate/platform/service/trusted-proxies'
import { hasOnlyPublicTools } from '../gate/plan-access.ts'
import { sendAccepted, sendMessage } from '../http/send-response.ts'
import { addCorsHeaders, isOriginAllowed, sendPreflight } from '../http/cors.ts'
import { readBody, refusedBodyBytesMax } from '../http/read-body.ts'
import { whenClosed } from '../http/when-closed.ts'
import { challengeOf } from '../http/resource-metadata.ts'
import { ambiguityOf } from '../protocol/ambiguity.ts'
import { classify } from '../protocol/classify.ts'
import {
  errorCodes,
  errorMessage,
  idOf,
  isMessage,
  methodOf,
  paramsOf,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { parseJson } from '../protocol/parse-json.ts'
import type { ServedServer } from '../servers/served-server.ts'
import type { TokenVerifier } from '../tokens/token-verifier.ts'
import { refuseOverLimit } from './refuse-over-limit.ts'
import { callerOf, type Place } from './open-requests.ts'
import { serveSessions, serveStateless } from './serve-post.ts'
import { sendNotAllowed, serveDelete, serveStream } from './serve-stream.ts'
import type { McpParts } from './served-request.ts'
import type { HttpExchange } from './http-exchange.ts'

export type McpEndpoint = {
  readonly parts: McpParts
  readonly tokens: TokenVerifier
}

/** Serves an HTTP request to the address of an MCP server. */
export async function serveMcp(
  { parts, tokens }: McpEndpoint,
  server: ServedServer,
  request: IncomingMessage,
  response: ServerResponse,
  trace: Readonly<Record<string, string>>,
): Promise<void> {
  const { origin, host = '' } = request.headers
  if (!isOriginAllowed(origin, host, parts.config.browserOrigins)) {
    const text = `Requests from pages of ${origin} are not allowed.`
    return sendMessage(response, 403, errorMessage(null, errorCodes.refused, text))
  }
  addCorsHeaders(response)
  if (request.method === 'OPTIONS') return sendPreflight(request, response)
  if (hasTokenInQuery(request)) {
    // A token in the query appears in the logs of all intermediaries. The request is refused even if its headers contain another
    // token.
    const text = 'A token in the query is not accepted. Send it in the Authorization header.'
    response.setHeader('www-authenticate', challengeOf(server, 'invalid_request'))
    return sendMessage(response, 400, errorMessage(null, errorCodes.invalidRequest, text))
  }
  const found = await authenticate(tokens, server, request)
  if (found.kind === 'refused') {
    return sendUnauthorized(server, response, await idIn(request), found.hasToken)
  }
  const { customerRef } = found
  const address = clientAddressOf(
    parts.config.trustedProxies,
    request.socket.remoteAddress ?? '',
    String(request.headers['x-forwarded-for'] ?? ''),
  )
  const caller = callerOf(server, customerRef, address)
  const exchange: HttpExchange = { parts, server, customerRef, caller, request, response, trace }
  switch (request.method) {
    case 'POST':
      return servePost(exchange)
    case 'GET':
      return serveStream(exchange)
    case 'DELETE':
      return serveDelete(exchange)
    default:
      return sendNotAllowed(exchange)
  }
}

function hasTokenInQuery({ url = '' }: IncomingMessage): boolean {
  const at = url.indexOf('?')
  return at !== -1 && new URLSearchParams(url.slice(at)).has('access_token')
}

type Caller =
  | { readonly kind: 'accepted'; readonly customerRef: string | undefined }
  | { readonly kind: 'refused'; readonly hasToken: boolean }

/** Checks the token of a request. A server whose tools are all public needs no token, but a token that is sent must be valid. */
async function authenticate(
  tokens: TokenVerifier,
  server: ServedServer,
  request: IncomingMessage,
): Promise<Caller> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
  if (token === undefined) {
    const hasToken = request.headers.authorization !== undefined
    return !hasToken && hasOnlyPublicTools(server)
      ? { kind: 'accepted', customerRef: undefined }
      : { kind: 'refused', hasToken }
  }
  const verified = await tokens.verify(token, server)
  return verified === undefined
    ? { kind: 'refused', hasToken: true }
    : { kind: 'accepted', customerRef: verified.customerRef }
}

/** Returns the id for the error response. Only a small part of the body is read, because the caller is not authenticated. */
async function idIn(request: IncomingMessage): Promise<MessageId | null> {
  if (request.method !== 'POST') return null
  const body = await readBody(request, refusedBodyBytesMax)
  const message = body.kind === 'read' ? parseJson(body.text) : undefined
  return isMessage(message) ? (idOf(message) ?? null) : null
}

function sendUnauthorized(
  server: ServedServer,
  response: ServerResponse,
  id: MessageId | null,
  hasToken: boolean,
): void {
  const error = hasToken ? 'invalid_token' : undefined
  response.setHeader('www-authenticate', challengeOf(server, error))
  sendMessage(response, 401, errorMessage(id, errorCodes.unauthorized, 'Unauthorized'))
}

async function servePost(exchange: HttpExchange): Promise<void> {
  const { parts, server, request, response, caller } = exchange
  // The place is taken before the body is read, because reading uses memory.
  const place = parts.openRequests.enter(server, caller)
  if (typeof place === 'string') {
    return refuseOverLimit(exchange, place, (text) => serveText(exchange, text, uncountedPlace))
  }
  try {
    const body = await readBody(request, parts.config.bodyBytesMax)
    if (body.kind === 'aborted') return
    if (body.kind === 'too-large') {
      const text = `A request has at most ${parts.config.bodyBytesMax} bytes.`
      response.setHeader('connection', 'close')
      return sendMessage(response, 413, errorMessage(null, errorCodes.refused, text))
    }
    await serveText(exchange, body.text, place)
  } finally {
    // The place is kept until the response is closed, because the answer uses memory until then.
    whenClosed(response, place.leave)
  }
}

const uncountedPlace: Place = { leave: () => undefined }

async function serveText(exchange: HttpExchange, text: string, place: Place): Promise<void> {
  const { parts, server, request, response, customerRef } = exchange
  const parsed = parseJson(text)
  if (parsed === undefined) {
    const error = errorMessage(null, errorCodes.parse, 'The body is not JSON.')
    return sendMessage(response, 400, error)
  }
  const ambiguity = ambiguityOf(text, parsed)
  if (ambiguity !== undefined) {
    return sendMessage(response, 400, errorMessage(null, errorCodes.invalidRequest, ambiguity))
  }
  const classified = classify(parsed, request.headers, parts.config.batchMax)
  switch (classified.kind) {
    case 'refused':
      return sendMessage(response, classified.status, classified.answer)
    case 'dropped':
      return sendAccepted(response)
    case 'stateless':
    case 'sessions': {
      const messages = classified.kind === 'stateless' ? [classified.message] : classified.messages
      const needsToken = messages.find((each) => !isPublic(server, each))
      if (customerRef === undefined && needsToken !== undefined) {
        return sendUnauthorized(server, response, idOf(needsToken) ?? null, false)
      }
      return classified.kind === 'stateless'
        ? serveStateless(exchange, classified.message, text, place)
        : serveSessions(exchange, messages, classified.isBatch, text, place)
    }
  }
}

/**
 * Returns whether a message needs no token. Only calls of public tools are allowed without one. Tools that were added since the
 * last discovery, and the proxy's own tools, need a token.
 */
function isPublic({ tools }: ServedServer, message: Message): boolean {
  if (methodOf(message) !== 'tools/call') return true
  return tools.get(String(paramsOf(message)['name']))?.access === 'public'
}
