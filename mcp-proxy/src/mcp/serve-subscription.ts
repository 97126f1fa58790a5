import { isPlainObject } from '@tollgate/schemas/json-object'
import { textOf, type Reply } from '../http/reply.ts'
import { idOf, methodOf, paramsOf, type Message } from '../protocol/messages.ts'
import { parseJson } from '../protocol/parse-json.ts'
import type { ServedRequest } from './served-request.ts'
import { watchToolList } from './watch-tool-list.ts'

const subscriptionMeta = 'io.modelcontextprotocol/subscriptionId'

/**
 * Adds to a stateless subscription the notifications that only the proxy can send: changes of the tool list by configuration. None
 * is sent before the MCP server has acknowledged that it notifies about tools. Returns the reply to use, and a function that ends
 * the watch.
 */
export function openSubscription(
  { parts, server }: Pick<ServedRequest, 'parts' | 'server'>,
  message: Message,
  reply: Reply,
): { readonly reply: Reply; readonly end: () => void } {
  if (methodOf(message) !== 'subscriptions/listen') return { reply, end: () => undefined }
  let isAcknowledged = false
  const end = watchToolList(parts, server, (notification) => {
    if (!isAcknowledged || reply.isDisconnected) return
    const params = { _meta: { [subscriptionMeta]: idOf(message) } }
    void reply.send(textOf({ ...notification, params }))
  })
  const observed: Reply = {
    get isDisconnected() {
      return reply.isDisconnected
    },
    onDisconnect: (listener) => reply.onDisconnect(listener),
    openStream: () => reply.openStream(),
    send: (text) => {
      isAcknowledged ||= notifiesOfTools(text)
      return reply.send(text)
    },
    finish: (...last) => reply.finish(...last),
  }
  return { reply: observed, end }
}

function notifiesOfTools(text: string): boolean {
  const sent = parseJson(text)
  if (!isPlainObject(sent)) return false
  if (methodOf(sent) !== 'notifications/subscriptions/acknowledged') return false
  const { notifications } = paramsOf(sent)
  return isPlainObject(notifications) && notifications['toolsListChanged'] === true
}
