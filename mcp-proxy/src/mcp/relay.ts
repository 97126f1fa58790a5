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

/** How the origin's answer to a request ended. Messages before the response have been sent to the client. */
export type RelayEnd =
  | { readonly kind: 'answered'; readonly received: Received }
  | Extract<OriginAnswer, { kind: 'refused' }>
  | OriginFailure
  /** The client ended the request. */
  | { readonly kind: 'cancelled'; readonly hasBegun: boolean }

/** Milliseconds for which the answer is awaited after the client has hung up: one that is on its way has been worked for. */
const hangUpGraceMs = 250

/** Milliseconds for which a stream is read on after its response, so that its connection can be used again. */
const drainMs = 1_000

/**
 * Sends a request to the origin, and to the client what the origin sends before its response. After `limitMs`, if it is given, the
 * request fails, also where the origin goes on sending, or the client does not read what it is sent. Never rejects.
 */
export async function relay(
  served: ServedRequest,
  body: string,
  id: MessageId,
  reply: Reply,
  limitMs?: number,
): Promise<RelayEnd> {
  const end = await relayUncounted(served, body, id, reply, limitMs)
  if (end.kind !== 'answered') {
    const { metrics } = served.parts
    metrics.originErrors.inc({ space: served.server.environment, end: end.kind })
  }
  return end
}

async function relayUncounted(
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
  if (close === undefined) return failed('A request with this id is not answered yet. Use another.')
  let isAnswered = false
  let hangUp: NodeJS.Timeout | undefined
  // Without sessions a client cancels by going away. Within one it may come back, and its call goes on.
  if (served.client.era === 'stateless') {
    if (reply.isGone) controller.abort()
    reply.onGone(() => (hangUp = setTimeout(() => controller.abort(), hangUpGraceMs)))
  }
  if (served.stopped?.aborted === true) controller.abort()
  served.stopped?.addEventListener('abort', () => controller.abort(), { once: true })
  const timer =
    limitMs === undefined ? undefined : setTimeout(() => controller.abort(overdue), limitMs)
  // DELETE does not find a call that is being admitted.
  if (served.hasEnded?.() === true) {
    call.cancelled = { hasBegun: false }
    controller.abort()
  }
  try {
    const end = await exchange(served, call, body, id, reply)
    isAnswered = end.kind === 'answered' || end.kind === 'refused'
    // Whatever a server says to a request that was cancelled, other than its result, is due to that.
    return call.cancelled === undefined || isResult(end)
      ? end
      : { kind: 'cancelled', ...call.cancelled }
  } finally {
    clearTimeout(timer)
    clearTimeout(hangUp)
    close(isAnswered)
  }
}

/** Why a request was ended that took too long. */
const overdue = new Error('the request is overdue')

async function exchange(
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
    return await endOf(answer, id, reply, controller)
  } catch (error) {
    if (signal.reason === overdue)
      return failed('The MCP server did not finish its answer in time.')
    return signal.aborted ? { kind: 'cancelled', hasBegun: call.hasBegun } : failureOf(error)
  }
}

function isResult(end: RelayEnd): boolean {
  return end.kind === 'answered' && isPlainObject(end.received.message['result'])
}

async function endOf(
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
      return failed('The MCP server did not answer the request.')
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
    if (next.done === true) return failed('The MCP server ended its answer without a response.')
    const received = next.value
    if (isAnswerTo(received, id)) {
      void drain(messages, controller)
      return { kind: 'answered', received }
    }
    // A response to anything else would reach the client as a result that nobody has counted.
    if (isResponse(received.message)) continue
    if (!reply.isGone) await unlessAborted(reply.send(received.text), controller.signal)
  }
}

/** A client that reads nothing must not keep a call open that has ended. */
function unlessAborted(sent: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('the request has ended'))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void sent.then(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
  })
}

async function drain(
  messages: AsyncGenerator<Received, void>,
  controller: AbortController,
): Promise<void> {
  const timer = setTimeout(() => controller.abort(), drainMs)
  try {
    for (;;) if ((await messages.next()).done === true) return
  } catch {
    // What comes after the response is of no interest.
  } finally {
    clearTimeout(timer)
  }
}

function failed(reason: string): OriginFailure {
  return { kind: 'failed', reason }
}
