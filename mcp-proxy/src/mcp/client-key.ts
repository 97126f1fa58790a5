import { createHash } from 'node:crypto'
import type { GatedCall } from '../gate/gate.ts'
import { metaOf, type Message } from '../protocol/messages.ts'
import { canonicalOf, membersOf, objectOf } from '../protocol/raw-json.ts'
import type { ServedRequest } from './served-request.ts'

const idempotencyKeyMeta = 'tollgate/idempotencyKey'
const idempotencyKeyMax = 255

/**
 * Returns the client's idempotency key for a call, or undefined if it sent none. `text` is the text of `message` that is sent to
 * the origin.
 */
export function clientKeyIn(
  { clientHeaders }: ServedRequest,
  message: Message,
  text: string,
): GatedCall['clientKey'] {
  const name = metaOf(message)[idempotencyKeyMeta]
  if (typeof name !== 'string' || name === '' || name.length > idempotencyKeyMax) return undefined
  return { name, sentSha256: digestOf(clientHeaders, text) }
}

/** Members of `_meta` that do not affect the work, and that differ each time a client sends the same call. */
const ofOneTry = ['progressToken', 'traceparent', 'tracestate', 'baggage']

/**
 * Returns a digest of everything that the origin can read of a call, except what identifies one attempt: the request id, the
 * progress token and the trace. Numbers are compared as text, because an origin may read more digits than JavaScript keeps.
 */
function digestOf(clientHeaders: ServedRequest['clientHeaders'], text: string): string {
  const members = membersOf(text)
  members.delete('id')
  const params = membersOf(members.get('params')!)
  const meta = membersOf(params.get('_meta')!)
  for (const name of ofOneTry) meta.delete(name)
  params.set('_meta', objectOf(meta))
  members.set('params', objectOf(params))
  const sent = [JSON.stringify(clientHeaders), objectOf(members)].map(canonicalOf)
  return createHash('sha256').update(JSON.stringify(sent)).digest('base64url')
}
