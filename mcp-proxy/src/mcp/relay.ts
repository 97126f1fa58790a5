import { unlessAborted } from '@tollgate/platform/waiting/unless-aborted'
import { isPlainObject } from '@tollgate/schemas/json-object'
import type { Reply } from '../http/reply.ts'
import {
  otherAnswer,
  type OriginAnswer,
  type OriginFailure,
  type Received,
} from '../origin/origin-answer.ts'
import { failureOf } from '../origin/origin-client.ts'
import { isAnswerTo } from '../origin/origin-stream.ts'
import { isResponse, type MessageId } from '../protocol/messages.ts'
import type { OpenCall } from './open-calls.ts'
import type { ServedRequest } from './served-request.ts'

/** How the origin's answer to a request ended. Messages before the response are already sent to the client. */
export type RelayEnd =
  | { readonly kind: 'answered'; readonly received: Received }
  | Extract<OriginAnswer, { kind: 'refused' }>
  | OriginFailure
  /** The client cancelled the request. */
  | { readonly kind: 'cancelled'; readonly hasBegun: boolean }

/**
 * Milliseconds for which the proxy waits for the answer after the client has disconnected, because the origin may have finished its
 * work.
 */
const disconnectGraceMs = 250

/** Milliseconds for which a stream is read after its response, so that its connection can be reused. */
const drainMs = 1_000

/**
 * Sends a request to the origin, and forwards to the client what the origin sends before its response. With `limitMs`, the request
 * fails after that time, even if the origin keeps sending or the client does not read. Never rejects.
 */
export async function relay(
  served: ServedRequest,
  body: string,
  id: MessageId,
  reply: Reply,
  limitMs?: number,
): Promise<RelayEnd> {
  const end = await relayWithoutMetrics(served, body, id, reply, limitMs)
  if (end.kind !== 'answered') {
    const { metrics } = served.parts
    metrics.originErrors.inc({ space: served.server.environment, end: end.kind })
  }
  return end
}

async function relayWithoutMetrics(
  served: ServedRequest,
  body: string,
  id: MessageId,
  reply: Reply,
  limitMs: number | undefined,
): Promise<RelayEnd> {
  const controller = new AbortController()
  const { originId = id } = served
  const call: OpenCall = { controller, originId, hasBegun: false, cancelled: undefined }
  const close = served.parts.openCalls.open(served.callKey, call)
  if (close === undefined)
    return originFailure('A request with this id is not answered yet. Use another.')
  let isAnswered = false
  let hangUp: NodeJS.Timeout | undefined
  // Without a session, a client cancels by disconnecting. Within a session the client may reconnect, so its call continues.
  if (served.client.era === 'stateless') {
    if (reply.isDisconnected) controller.abort()
    reply.onDisconnect(() => (hangUp = setTimeout(() => controller.abort(), disconnectGraceMs)))
  }
  if (served.stopped?.aborted === true) controller.abort()
  served.stopped?.addEventListener('abort', () => controller.abort(), { once: true })
  const timer =
    limitMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(timeLimitExceeded), limitMs)
  // A cancellation or a DELETE that arrived before found no open request.
  if (served.isCancelled?.() === true) {
    call.cancelled = { hasBegun: false }
    controller.abort()
  }
  try {
    const end = await sendToOrigin(served, call, body, id, reply)
    isAnswered = end.kind === 'answered' || end.kind === 'refused'
    // After a cancellation, any answer of a server other than a result is caused by the cancellation.
    return call.cancelled === undefined || isResult(end)
      ? end
      : { kind: 'cancelled', ...call.cancelled }
  } finally {
    clearTimeout(timer)
    clearTimeout(hangUp)
    close(isAnswered)
  }
}

/** Abort reason of a request that exceeded its time limit. */
const timeLimitExceeded = new Error('the request is overdue')

async function sendToOrigin(
  served: ServedRequest,
  call: OpenCall,
  body: string,
  id: MessageId,
  reply: Reply,
): Promise<RelayEnd> {
  const { controller } = call
  const { signal } = controller
  try {
    signal.throwIfAborted()
    const answer = await served.post(body, id, signal)
    call.hasBegun = answer.kind === 'stream' || answer.kind === 'message'
    return await readAnswer(answer, id, reply, controller)
  } catch (error) {
    if (signal.reason === timeLimitExceeded)
      return originFailure('The MCP server did not finish its answer in time.')
    return signal.aborted ? { kind: 'cancelled', hasBegun: call.hasBegun } : failureOf(error)
  }
}

function isResult(end: RelayEnd): boolean {
  return end.kind === 'answered' && isPlainObject(end.received.message['result'])
}

async function readAnswer(
  answer: OriginAnswer,
  id: MessageId,
  reply: Reply,
  controller: AbortController,
): Promise<RelayEnd> {
  switch (answer.kind) {
    case 'refused':
    case 'failed':
      return answer
    case 'accepted':
      return originFailure('The MCP server did not answer the request.')
    case 'message':
      return isAnswerTo(answer.received, id)
        ? { kind: 'answered', received: answer.received }
        : otherAnswer
    case 'stream':
      return readStream(answer.messages, id, reply, controller)
  }
}

async function readStream(
  messages: AsyncGenerator<Received, void>,
  id: MessageId,
  reply: Reply,
  controller: AbortController,
): Promise<RelayEnd> {
  reply.openStream()
  for (;;) {
    const next = await messages.next()
    if (next.done === true)
      return originFailure('The MCP server ended its answer without a response.')
    const received = next.value
    if (isAnswerTo(received, id)) {
      void drain(messages, controller)
      return { kind: 'answered', received }
    }
    // A response to another request is dropped: it would reach the client as a result of a call that was not counted.
    if (isResponse(received.message)) continue
    // A client that does not read must not keep an ended call open.
    if (!reply.isDisconnected) await unlessAborted(reply.send(received.text), controller.signal)
  }
}

async function drain(
  messages: AsyncGenerator<Received, void>,
  controller: AbortController,
): Promise<void> {
  const timer = setTimeout(() => controller.abort(), drainMs)
  try {
    for (;;) if ((await messages.next()).done === true) return
  } catch {
    // Errors after the response are ignored, because the request is already answered.
  } finally {
    clearTimeout(timer)
  }
}

function originFailure(reason: string): OriginFailure {
  return { kind: 'failed', reason }
}
