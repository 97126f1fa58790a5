import { isUtf8 } from 'node:buffer'
import type { BodyFault } from '@tollgate/schemas/http/same-words'

/** What a request body is: a JSON value, or the reason why it is none. */
export type ParsedBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly fault: BodyFault }

/**
 * Reads a body as JSON. Of a key that occurs twice the last one counts, as everywhere in JavaScript. `__proto__`
 * becomes a plain own key here; the schemas decide about it. 1e400 becomes Infinity, which no schema takes.
 */
export function parseBody(body: Buffer): ParsedBody {
  if (body.byteLength === 0) return refused('empty_body')
  // Decoding replaces what is no UTF-8, and the replacement would be stored as if the client had sent it.
  if (!isUtf8(body)) return refused('invalid_utf8')
  try {
    return { kind: 'json', value: JSON.parse(body.toString('utf8')) as unknown }
  } catch {
    return refused('invalid_json')
  }
}

function refused(fault: BodyFault): ParsedBody {
  return { kind: 'refused', fault }
}
