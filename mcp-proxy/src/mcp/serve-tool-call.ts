import { randomUUID } from 'node:crypto'
import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import type { Admission, CallEnd, GatedCall, PaywallAnswer } from '../gate/gate.ts'
import { textOf, type Reply } from '../http/reply.ts'
import {
  errorCodes,
  errorMessage,
  idOf,
  paramsOf,
  resultMessage,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { rewritten } from '../protocol/raw-json.ts'
import { errorOf } from './origin-errors.ts'
import { relay, type RelayEnd } from './relay.ts'
import { askForInput, readRound, type CallRound, type SentCall } from './call-round.ts'
import { clientKeyIn } from './client-key.ts'
import type { ServedRequest } from './served-request.ts'

/** One `tools/call` while it is served. */
type Call = SentCall & {
  readonly id: MessageId
  readonly gated: GatedCall
  readonly round: CallRound
  readonly reply: Reply
  readonly begunAt: number
}

/**
 * Serves `tools/call`: checks access and limit, sends the call to the origin, then records it. The call is settled once,
 * synchronously before its last byte is passed to the socket. Every failure behind the proxy becomes a tool result or a JSON-RPC
 * error, not an HTTP status, because only those reach the model.
 */
export async function serveToolCall(
  served: ServedRequest,
  message: Message,
  text: string,
  reply: Reply,
): Promise<void> {
  const id = idOf(message)!
  const { server, customerRef, parts } = served
  const params = paramsOf(message)
  const toolName = params['name']
  const refuse = (reason: string): void =>
    reply.finish(textOf(errorMessage(id, errorCodes.invalidParams, reason)))
  if (typeof toolName !== 'string') return refuse('params.name must be a string.')
  if ('task' in params) return refuse('Tasks are not supported through this proxy.')
  const given = isPlainObject(params['arguments']) ? params['arguments'] : {}
  if (customerRef !== undefined && parts.gate.isVirtual(server, toolName)) {
    const result = await callVirtual(served, customerRef, toolName, given)
    return reply.finish(textOf(resultMessage(id, completed(served, result))))
  }
  const sent = { served, toolName, message, text }
  const round = readRound(sent)
  if (round === undefined) {
    return refuse('requestState is not valid for this call, or has expired. Call the tool again.')
  }
  const gated: GatedCall = {
    ...{ server, customerRef: customerRef ?? '', toolName },
    callId: randomUUID(),
    clientKey: clientKeyIn(served, message, round.text),
    client: served.client,
    ...(round.paywallAnswered !== undefined && { paywallAnswered: round.paywallAnswered }),
  }
  const begunAt = performance.now()
  const endAdmission = parts.openCalls.admit(served.callKey)
  // Callers without a token reach only public tools, which need no admission.
  const admission: Admission =
    customerRef === undefined ? { kind: 'open' } : await admit(served, gated)
  const isCancelled = endAdmission()
  const current = isCancelled ? { ...served, isCancelled: () => true } : served
  await completeCall({ ...sent, served: current, id, gated, round, reply, begunAt }, admission)
}

function callVirtual(
  { parts, server, client }: ServedRequest,
  customerRef: string,
  toolName: string,
  given: JsonObject,
): Promise<JsonObject> {
  const call = { server, client, customerRef, toolName, arguments: given }
  return parts.gate.callVirtual(call).catch((error: unknown) => {
    parts.logger.error({ err: error, toolName }, 'a tool of the proxy failed')
    const text = JSON.stringify({ error: 'This is not available now. Try again later.' })
    return { isError: true, content: [{ type: 'text', text }] }
  })
}

function admit({ parts }: ServedRequest, gated: GatedCall): Promise<Admission> {
  return parts.gate.admit(gated).catch((error: unknown): Admission => {
    parts.logger.error({ err: error }, 'a call could not be admitted')
    return { kind: 'unavailable', message: 'Calls cannot be admitted now. Try again later.' }
  })
}

async function completeCall(call: Call, admission: Admission): Promise<void> {
  const { served, id, reply, round } = call
  switch (admission.kind) {
    case 'unavailable':
      return reply.finish(textOf(errorMessage(id, errorCodes.internal, admission.message)))
    case 'paywalled':
      return reply.finish(textOf(paywallMessage(call, admission.answer)))
    case 'open':
    case 'admitted': {
      const settle = admission.kind === 'admitted' ? admission.settle : undefined
      try {
        const end = await relay(served, round.text, id, reply, served.parts.config.callMs)
        return finish(call, end, settle)
      } catch (error) {
        const durationMs = performance.now() - call.begunAt
        settle?.({ outcome: 'fail', durationMs, reason: 'the proxy failed' })
        throw error
      }
    }
  }
}

function finish(call: Call, end: RelayEnd, settle: ((end: CallEnd) => void) | undefined): void {
  const { id, reply, served } = call
  const durationMs = performance.now() - call.begunAt
  if (end.kind !== 'answered') {
    const { status, message } = errorOf(end, id)
    const ended: CallEnd =
      end.kind === 'cancelled'
        ? { outcome: 'fail', durationMs, isCancelled: true, isAccepted: end.hasBegun }
        : { outcome: 'fail', durationMs, reason: reasonOf(end) }
    return reply.finish(textOf(message), status, () => settle?.(ended))
  }
  const { message, text } = end.received
  const result = message['result']
  if (!isPlainObject(result)) {
    const ended: CallEnd = { outcome: 'fail', durationMs, reason: 'error of the MCP server' }
    return reply.finish(text, 200, () => settle?.(ended))
  }
  if (served.client.era === 'stateless' && result['resultType'] === 'input_required') {
    const asking = askForInput(call, result, false)
    if (asking.kind === 'too-large') {
      const { reason } = asking
      const ended: CallEnd = { outcome: 'fail', durationMs, reason }
      const error = textOf(errorMessage(id, errorCodes.internal, reason))
      return reply.finish(error, 200, () => settle?.(ended))
    }
    const request = rewritten(text, message, { ...message, result: asking.result })
    return reply.finish(request, 200, () => settle?.({ outcome: 'interim', durationMs }))
  }
  const failed = result['isError'] === true
  const ended: CallEnd = failed
    ? { outcome: 'fail', durationMs, reason: 'the tool failed' }
    : { outcome: 'success', durationMs }
  // A stateless client that disconnected before the result was written has cancelled the call. A result that was written always
  // counts.
  const isUnseen = !failed && reply.isDisconnected && served.client.era === 'stateless'
  const unseen: CallEnd = { outcome: 'fail', durationMs, isCancelled: true, isAnswered: true }
  reply.finish(text, 200, () => settle?.(isUnseen ? unseen : ended))
}

function reasonOf(end: Exclude<RelayEnd, { kind: 'answered' | 'cancelled' }>): string {
  return end.kind === 'failed' ? end.reason : `status ${end.status} of the MCP server`
}

function paywallMessage(call: Call, answer: PaywallAnswer): Message {
  const { id, served } = call
  switch (answer.kind) {
    case 'result':
      return resultMessage(id, completed(served, answer.result))
    case 'error':
      return errorMessage(id, answer.code, answer.message, answer.data)
    case 'input_required': {
      const asking = askForInput(call, answer.result, true)
      return asking.kind === 'asking'
        ? resultMessage(id, asking.result)
        : errorMessage(id, errorCodes.internal, asking.reason)
    }
  }
}

/** Adds the `resultType` that the stateless versions require on a final result. */
function completed({ client }: ServedRequest, result: JsonObject): JsonObject {
  return client.era === 'stateless' && !('resultType' in result)
    ? { resultType: 'complete', ...result }
    : result
}
