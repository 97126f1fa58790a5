import { sendAccepted, sendMessage } from '../http/send-response.ts'
import { keepAliveComment, openEventStream, textOf, writeEvent } from '../http/reply.ts'
import { whenClosed } from '../http/when-closed.ts'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import { errorCodes, errorMessage, isResponse, type MessageId } from '../protocol/messages.ts'
import type { Session } from '../sessions/origin-sessions.ts'
import { withOneWayPlace, sendOneWay } from './one-way-requests.ts'
import type { Bound } from './open-requests.ts'
import { sendUnknownSession, sessionOf, type HttpExchange } from './http-exchange.ts'
import { watchToolList } from './watch-tool-list.ts'

/** Refuses a method with 405. GET and DELETE exist only within sessions. */
export function sendNotAllowed({ response }: HttpExchange): void {
  response.setHeader('allow', 'POST, OPTIONS')
  const text = 'Method not allowed. Send messages with POST.'
  sendMessage(response, 405, errorMessage(null, errorCodes.refused, text))
}

export async function serveStream(exchange: HttpExchange): Promise<void> {
  const { streams } = exchange.parts
  const session = sessionOf(exchange)
  if (session === 'none') return sendNotAllowed(exchange)
  if (session === 'unknown') return sendUnknownSession(exchange)
  const controller = streams.open(session.key, exchange.server, exchange.caller)
  if (typeof controller === 'string') return sendTooManyStreams(exchange, controller)
  whenClosed(exchange.response, () => controller.abort())
  try {
    const answer = await openAtOrigin(exchange, session, controller.signal)
    streams.setOpened(session.key, controller)
    if (answer.kind !== 'stream') return sendNotAllowed(exchange)
    await forwardStream(exchange, answer.messages)
  } catch {
    // The client disconnected, a second stream replaced this one, or the origin closed it. The client opens the stream again.
  } finally {
    streams.close(session.key, controller)
    if (!exchange.response.headersSent) sendNotAllowed(exchange)
    else exchange.response.end()
  }
}

/** Refuses a stream with 429. Clients continue without the stream and may open it again. */
export function sendTooManyStreams(
  { parts, response }: HttpExchange,
  bound: Bound,
  id: MessageId | null = null,
): void {
  parts.metrics.requestsRefused.inc({ bound: 'streams' })
  response.setHeader('retry-after', '5')
  sendMessage(response, 429, errorMessage(id, errorCodes.refused, tooManyStreams[bound]))
}

const tooManyStreams: Readonly<Record<Bound, string>> = {
  customer: 'Too many streams of this customer are open. Close one, then try again.',
  provider: 'Too many streams of MCP servers of this provider are open. Try again later.',
  total: 'Too many streams are open. Try again later.',
}

const reopenDelayMs = 200

/**
 * Opens the stream at the origin. Retries once after a 409, because the origin may not have noticed yet that the session's first
 * stream has ended.
 */
async function openAtOrigin(
  { parts, server, trace }: HttpExchange,
  session: Session,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const request = { server, headers: trace, signal }
  const answer = await parts.sessions.openStream(session, request)
  if (answer.kind !== 'refused' || answer.status !== 409) return answer
  await new Promise((resolve) => setTimeout(resolve, reopenDelayMs))
  return parts.sessions.openStream(session, request)
}

async function forwardStream(
  { parts, server, response }: HttpExchange,
  messages: Extract<OriginAnswer, { kind: 'stream' }>['messages'],
): Promise<void> {
  openEventStream(response)
  const keepAlive = setInterval(() => {
    if (!response.writableNeedDrain) response.write(keepAliveComment)
  }, parts.config.keepAliveMs)
  const stopWatching = watchToolList(parts, server, (notification) => {
    void writeEvent(response, textOf(notification))
  })
  try {
    for await (const { message, text } of messages) {
      // Responses are dropped here: they belong in the answers to requests, where calls are counted.
      if (!isResponse(message)) await writeEvent(response, text)
    }
  } finally {
    clearInterval(keepAlive)
    stopWatching()
  }
}

export async function serveDelete(exchange: HttpExchange): Promise<void> {
  const { parts, server, trace, response } = exchange
  const session = sessionOf(exchange)
  if (session === 'none') return sendNotAllowed(exchange)
  if (session === 'unknown') return sendUnknownSession(exchange)
  return withOneWayPlace(exchange, async () => {
    // Cancel the calls before the origin receives the DELETE, because it may end its answers immediately.
    parts.openCalls.cancelAllOf(session.key)
    await sendOneWay(exchange, (signal) =>
      parts.sessions.end(session, { server, headers: trace, signal }),
    )
    sendAccepted(response)
  })
}
