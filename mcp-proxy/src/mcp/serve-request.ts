import { textOf, type Reply } from '../http/reply.ts'
import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { idOf, methodOf, paramsOf, resultMessage, type Message } from '../protocol/messages.ts'
import { rewritten } from '../protocol/raw-json.ts'
import { editResult, isCursor } from './edit-result.ts'
import { errorOf } from './origin-errors.ts'
import { answerProxyResource, answerWithoutResources } from './proxy-resources.ts'
import { relay } from './relay.ts'
import { serveToolCall } from './serve-tool-call.ts'
import { openSubscription } from './serve-subscription.ts'
import type { ServedRequest } from './served-request.ts'

/** Serves one request that has an id. `text` is the text from which `message` was parsed. */
export async function serveRequest(
  served: ServedRequest,
  message: Message,
  text: string,
  reply: Reply,
): Promise<void> {
  const method = methodOf(message)
  if (method === 'tools/call') return serveToolCall(served, message, text, reply)
  const id = idOf(message)!
  const own = answerProxyResource(served, message, id)
  if (own !== undefined) return reply.finish(textOf(own))
  const subscription = openSubscription(served, message, reply)
  // The time limit frees the place if a server never ends its answer. Subscriptions have no limit, because they have their own
  // places.
  const limitMs = served.stopped === undefined ? served.parts.config.callMs : undefined
  const end = await relay(served, text, id, subscription.reply, limitMs).finally(subscription.end)
  const instead = answerWithoutResources(served, method, end, id)
  if (instead !== undefined) return reply.finish(textOf(instead))
  if (served.stopped?.aborted === true) {
    // A subscription ended by the proxy completes without an error. The client opens another one.
    return reply.finish(textOf(resultMessage(id, { resultType: 'complete' })))
  }
  if (end.kind !== 'answered') {
    const { status, message: error } = errorOf(end, id)
    // Clients fall back to the versions with sessions if `server/discover` is refused with 4xx. After other answers they stop.
    const isProbe = method === 'server/discover'
    const given = end.kind === 'refused' && ![401, 403].includes(end.status) ? end.status : 400
    return reply.finish(textOf(error), isProbe ? given : statusFor(served, end, status))
  }
  const { received } = end
  const result = received.message['result']
  if (!isPlainObject(result)) {
    return reply.finish(received.text, method === 'server/discover' ? 400 : 200)
  }
  if (method === 'tools/list') watchTools(served, message, result)
  const edited = editResult(served, method, result)
  const { message: before, text: given } = received
  reply.finish(edited === result ? given : rewritten(given, before, { ...before, result: edited }))
}

function watchTools(
  { parts, server }: ServedRequest,
  message: Message,
  { tools, nextCursor }: JsonObject,
): void {
  if (!Array.isArray(tools)) return
  const isFirst = !('cursor' in paramsOf(message))
  parts.toolWatch.onListed(server, tools, isFirst && !isCursor(nextCursor))
}

/** In the stateless versions, a method that the origin does not know is answered with 404. */
function statusFor(
  { client }: ServedRequest,
  end: { readonly kind: string; readonly status?: number },
  status: number,
): number {
  return client.era === 'stateless' && end.kind === 'refused' && end.status === 404 ? 404 : status
}
