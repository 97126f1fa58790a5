import { createHash } from 'node:crypto'
import type { GatedCall } from '../gate/gate.ts'
import { metaOf, type Message } from '../protocol/messages.ts'
import { canonicalOf, membersOf, objectOf } from '../protocol/raw-json.ts'
import type { ServedRequest } from './served-request.ts'

const idempotencyKeyMeta = 'tollgate/idempotencyKey'
const idempotencyKeyMax = 255

/** Returns the client's own name for a call. `text` is what the origin is sent of `message`. */
export function clientKeyIn(
  { clientHeaders }: ServedRequest,
  message: Message,
  text: string,
): GatedCall['clientKey'] {
  const name = metaOf(message)[idempotencyKeyMeta]
  if (typeof name !== 'string' || name === '' || name.length > idempotencyKeyMax) return undefined
  return { name, sentSha256: digestOf(clientHeaders, text) }
}

/** Members of `_meta` that say nothing of the work, and are others each time that a client sends the same call. */
const ofOneTry = ['progressToken', 'traceparent', 'tracestate', 'baggage']

/**
 * Digest of all that the origin can read of a call, but for what names one try: the id of the request, its progress and its trace.
 * Numbers count as they are written: an origin may read more digits than JavaScript keeps.
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
