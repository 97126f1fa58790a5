import { isUtf8 } from 'node:buffer'
import type { BodyFault } from '@tollgate/schemas/http/same-words'

/** A request body as a JSON value, or the reason why it is not JSON. */
export type ParsedBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly fault: BodyFault }

/**
 * Parses a body as JSON. If a key occurs twice, the last value counts, as everywhere in JavaScript. `__proto__` becomes an ordinary
 * own key, which the schemas accept or refuse. 1e400 becomes Infinity, which no schema accepts.
 */
export function parseBody(body: Buffer): ParsedBody {
  if (body.byteLength === 0) return refused('empty_body')
  // Decoding would replace invalid UTF-8, and the replacement characters would be stored as if the client had sent them.
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
