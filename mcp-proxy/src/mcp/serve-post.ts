import { sendAccepted, sendMessage } from '../http/answers.ts'
import { BatchReply } from '../http/batch-reply.ts'
import { HttpReply, type Reply } from '../http/reply.ts'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import {
  errorCodes,
  errorMessage,
  idOf,
  isCall,
  metaOf,
  methodOf,
  paramsOf,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { envelope } from '../protocol/versions.ts'
import type { Session } from '../sessions/origin-sessions.ts'
import { abilitiesOf } from './client-abilities.ts'
import { serveInitialize } from './initialize.ts'
import { serveRequest } from './serve-request.ts'
import type { ServedRequest } from './served-request.ts'
import { acceptsStream, sentHeaders, sessionOf, type Visit } from './visit.ts'

/** Serves a request of the stateless versions. `text` is its body. */
export async function serveStateless(visit: Visit, message: Message, text: string): Promise<void> {
  const { parts, server, customerRef, request, trace } = visit
  const names = Object.keys(request.headers).filter((name) => name.startsWith('mcp-'))
  const headers = { ...trace, ...sentHeaders(request, names.filter(isNoSession)) }
  const served: ServedRequest = {
    parts,
    server,
    customerRef,
    client: abilitiesOf('stateless', metaOf(message)[envelope.clientCapabilities]),
    cancelKey: undefined,
    post: (body, id, signal) => parts.origin.post({ server, headers, signal }, body, id),
  }
  await serveRequest(served, message, text, replyTo(visit))
}

const isNoSession = (name: string): boolean => name !== 'mcp-session-id'

function replyTo({ parts, request, response }: Visit): HttpReply {
  return new HttpReply(response, acceptsStream(request), parts.config.keepAliveMs)
}

/** Serves what a client of the versions with sessions posts: one message, or the batch of 2025-03-26. */
export async function serveSessions(
  visit: Visit,
  messages: readonly Message[],
  isBatch: boolean,
  text: string,
): Promise<void> {
  const { response } = visit
  const [first] = messages
  if (!isBatch && first !== undefined && methodOf(first) === 'initialize') {
    return serveInitialize(visit, first, text)
  }
  const session = sessionOf(visit)
  if (session === 'unknown') return sendUnknownSession(visit, isBatch ? undefined : first)
  const requests = messages.filter((each) => isCall(each) && idOf(each) !== undefined)
  if (!isBatch && first !== undefined && requests.length === 1) {
    return serveRequest(servedIn(visit, session, first), first, text, replyTo(visit))
  }
  for (const message of messages) {
    if (!requests.includes(message)) await notifyOrigin(visit, session, message)
  }
  if (requests.length === 0) return sendAccepted(response)
  const batch = new BatchReply(response, requests.length)
  await Promise.all(
    requests.map((each, place) => {
      const reply: Reply = batch.replyFor(place)
      return serveRequest(servedIn(visit, session, each), each, JSON.stringify(each), reply)
    }),
  )
}

/** MCP wants 404: the client is to begin a new session. */
export function sendUnknownSession({ response }: Visit, message?: Message): void {
  const id = message === undefined ? null : (idOf(message) ?? null)
  const error = errorMessage(id, errorCodes.unauthorized, 'Session not found. Initialize again.')
  sendMessage(response, 404, error)
}

function servedIn(visit: Visit, session: Session | 'none', message: Message): ServedRequest {
  const { parts, server, customerRef } = visit
  const capabilities = session === 'none' ? undefined : session.state.initialize['capabilities']
  return {
    parts,
    server,
    customerRef,
    client: abilitiesOf('sessions', capabilities),
    cancelKey: session === 'none' ? undefined : cancelKey(session, idOf(message)),
    post: (body, id, signal) => postIn(visit, session, body, id, signal),
  }
}

function cancelKey({ key }: Session, id: unknown): string {
  return `${key} ${JSON.stringify(id)}`
}

function postIn(
  { parts, server, request, trace }: Visit,
  session: Session | 'none',
  body: string,
  id: MessageId | undefined,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const headers = { ...trace, ...sentHeaders(request, ['mcp-protocol-version']) }
  const sent = { server, headers, signal }
  return session === 'none'
    ? parts.origin.post(sent, body, id)
    : parts.sessions.post(session, sent, body, id)
}

/** Notifications, and responses to what the origin asked. An origin that cannot be reached has nothing left to be told. */
async function notifyOrigin(
  visit: Visit,
  session: Session | 'none',
  message: Message,
): Promise<void> {
  const controller = new AbortController()
  const text = JSON.stringify(message)
  await postIn(visit, session, text, undefined, controller.signal)
  // A stream in answer to a notification is nobody's.
  controller.abort()
  if (methodOf(message) !== 'notifications/cancelled' || session === 'none') return
  visit.parts.openCalls.cancel(cancelKey(session, paramsOf(message)['requestId']))
}
