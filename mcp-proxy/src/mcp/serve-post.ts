import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendAccepted } from '../http/send-response.ts'
import { BatchReply } from '../http/batch-reply.ts'
import { HttpReply, textOf, type Reply } from '../http/reply.ts'
import { whenClosed } from '../http/when-closed.ts'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import {
  errorCodes,
  errorMessage,
  idOf,
  isRequest,
  metaOf,
  methodOf,
  paramsOf,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { itemsOf, rewritten } from '../protocol/raw-json.ts'
import { envelope } from '../protocol/versions.ts'
import type { Session } from '../sessions/origin-sessions.ts'
import { sendWithOriginId } from '../sessions/send-with-origin-id.ts'
import { clientCapabilitiesOf } from './client-capabilities.ts'
import { serveInitialize } from './initialize.ts'
import { withOneWayPlace, sendOneWay } from './one-way-requests.ts'
import { callKeyOf } from './open-calls.ts'
import type { Place } from './open-requests.ts'
import { overLimitMessage } from './refuse-over-limit.ts'
import { serveRequest } from './serve-request.ts'
import { sendTooManyStreams } from './serve-stream.ts'
import type { ServedRequest } from './served-request.ts'
import {
  acceptsStream,
  sendUnknownSession,
  sentHeaders,
  sessionOf,
  type HttpExchange,
} from './http-exchange.ts'

/** Serves a request of the stateless versions. `text` is its body. */
export async function serveStateless(
  exchange: HttpExchange,
  message: Message,
  text: string,
  place: Place,
): Promise<void> {
  const { parts, server, customerRef, request, trace } = exchange
  const names = Object.keys(request.headers).filter((name) => name.startsWith('mcp-'))
  const clientHeaders = sentHeaders(request, names.filter(isForwardedHeader))
  const headers = { ...trace, ...clientHeaders }
  const served: ServedRequest = {
    parts,
    server,
    customerRef,
    client: clientCapabilitiesOf('stateless', metaOf(message)[envelope.clientCapabilities]),
    clientHeaders,
    callKey: undefined,
    post: (body, id, signal) => parts.origin.post({ server, headers, signal }, body, id),
  }
  if (methodOf(message) !== 'subscriptions/listen') {
    return serveRequest(served, message, text, replyTo(exchange))
  }
  // A subscription stays open as long as the client wants, so it counts as a stream.
  const key = `listen ${randomUUID()}`
  const controller = parts.streams.open(key, server, exchange.caller)
  if (typeof controller === 'string') {
    return sendTooManyStreams(exchange, controller, idOf(message) ?? null)
  }
  place.leave()
  const listening: ServedRequest = {
    ...served,
    stopped: controller.signal,
    post: (body, id, signal) => parts.origin.listen({ server, headers, signal }, body, id),
  }
  try {
    await serveRequest(listening, message, text, replyTo(exchange))
  } finally {
    parts.streams.close(key, controller)
  }
}

const isForwardedHeader = (name: string): boolean => name !== 'mcp-session-id'

function replyTo({ parts, request, response }: HttpExchange): HttpReply {
  return new HttpReply(response, acceptsStream(request), parts.config.keepAliveMs)
}

/** Maximum milliseconds that a message waits while the stream of its session is being opened at the origin. */
const openingMs = 1_000

/** Serves a POST of a client of the versions with sessions: one message, or a batch of 2025-03-26. */
export async function serveSessions(
  exchange: HttpExchange,
  messages: readonly Message[],
  isBatch: boolean,
  text: string,
  place: Place,
): Promise<void> {
  const { response } = exchange
  const [first] = messages
  if (!isBatch && first !== undefined && methodOf(first) === 'initialize') {
    return serveInitialize(exchange, first, text)
  }
  const session = sessionOf(exchange)
  if (session === 'unknown') return sendUnknownSession(exchange, isBatch ? undefined : first)
  if (!isBatch && first !== undefined && isRequest(first)) {
    return serveRequest(servedRequestOf(exchange, session, first), first, text, replyTo(exchange))
  }
  const texts = isBatch ? itemsOf(text) : [text]
  const items = messages.map((message, at) => ({ message, text: texts[at]! }))
  const requests = items.filter(({ message }) => isRequest(message))
  const notifyAll = async (): Promise<void> => {
    for (const item of items) {
      if (!isRequest(item.message)) await notifyOrigin(exchange, session, item)
    }
  }
  if (requests.length === 0) {
    place.leave()
    return withOneWayPlace(exchange, async () => {
      await notifyAll()
      sendAccepted(response)
    })
  }
  await notifyAll()
  const batch = new BatchReply(response, requests.length)
  await Promise.all(
    requests.map((item, at) => serveInBatch(exchange, session, item, batch.replyFor(at), at > 0)),
  )
}

/** A message, and the text from which it was parsed. */
type Item = { readonly message: Message; readonly text: string }

/**
 * Serves one request of a batch. The first request uses the batch's slot in the limit of open requests, and each further request
 * takes a slot of its own (`needsPlace`). A request that fails gets an error response, so that the others continue.
 */
async function serveInBatch(
  exchange: HttpExchange,
  session: Session | 'none',
  { message, text }: Item,
  reply: Reply,
  needsPlace: boolean,
): Promise<void> {
  const { parts, server, caller } = exchange
  const place = needsPlace ? parts.openRequests.enter(server, caller) : undefined
  if (typeof place === 'string') {
    return reply.finish(textOf(overLimitMessage(exchange, place, idOf(message)!)))
  }
  try {
    await serveRequest(servedRequestOf(exchange, session, message), message, text, reply)
  } catch (error) {
    parts.logger.error({ err: error }, 'a request of a batch failed')
    reply.finish(textOf(errorMessage(idOf(message)!, errorCodes.internal, failedMessage)))
  } finally {
    if (place !== undefined) whenClosed(exchange.response, place.leave)
  }
}

const failedMessage = 'The MCP proxy cannot serve this now. Try again later.'

function servedRequestOf(
  exchange: HttpExchange,
  session: Session | 'none',
  message: Message,
): ServedRequest {
  const { parts, server, customerRef } = exchange
  const clientId = idOf(message)!
  const both = { parts, server, customerRef, clientHeaders: {} }
  if (session === 'none') {
    return {
      ...{ ...both, callKey: undefined },
      client: clientCapabilitiesOf('sessions', undefined),
      post: (body, id, signal) => postToOrigin(exchange, session, body, id, signal),
    }
  }
  const originId = parts.sessions.originIdOf(session, clientId)
  return {
    ...{ ...both, originId },
    isCancelled: () => parts.sessions.hasEnded(session.key),
    client: clientCapabilitiesOf('sessions', session.state.initialize['capabilities']),
    callKey: callKeyOf(session.key, JSON.stringify(clientId)),
    post: (body, id, signal) => {
      const send = (sentText: string, sentId: MessageId): Promise<OriginAnswer> =>
        postToOrigin(exchange, session, sentText, sentId, signal)
      return id === originId ? send(body, id) : sendWithOriginId(body, id, originId, send)
    },
  }
}

async function postToOrigin(
  { parts, server, request, trace }: HttpExchange,
  session: Session | 'none',
  body: string,
  id: MessageId | undefined,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const headers = { ...trace, ...sentHeaders(request, ['mcp-protocol-version']) }
  const sent = { server, headers, signal }
  if (session === 'none') return parts.origin.post(sent, body, id)
  const opening = parts.streams.opening(session.key)
  if (opening !== undefined)
    await Promise.race([opening, sleep(openingMs, undefined, { ref: false })])
  return parts.sessions.post(session, sent, body, id)
}

/** Forwards notifications, and responses to requests of the origin. A message to an origin that cannot be reached is dropped. */
async function notifyOrigin(
  exchange: HttpExchange,
  session: Session | 'none',
  { message, text }: Item,
): Promise<void> {
  // Mark the call as cancelled before the origin receives the cancellation. The origin may end its answer immediately, which must
  // not be taken for a failure of the origin.
  const told = session === 'none' ? message : cancelNamedCall(exchange, session, message)
  const body = rewritten(text, message, told)
  await sendOneWay(exchange, (signal) => postToOrigin(exchange, session, body, undefined, signal))
}

/**
 * Cancels the request that a message names, if the message is a cancellation. Returns the message with the id that the origin
 * knows.
 */
function cancelNamedCall({ parts }: HttpExchange, { key }: Session, message: Message): Message {
  if (methodOf(message) !== 'notifications/cancelled') return message
  const params = paramsOf(message)
  const call = parts.openCalls.cancel(callKeyOf(key, JSON.stringify(params['requestId'])))
  if (call === undefined) return message
  return { ...message, params: { ...params, requestId: call.originId } }
}
