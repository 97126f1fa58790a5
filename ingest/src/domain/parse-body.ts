import { isUtf8 } from 'node:buffer'

/** What a request body is: a JSON value, or the reason why it is none. */
export type ParsedBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly message: string }

/**
 * Reads a body as JSON. Of a key that occurs twice the last one counts, as everywhere in JavaScript. `__proto__`
 * becomes a plain own key here; the schemas decide about it. 1e400 becomes Infinity, which no schema takes.
 */
export function parseBody(body: Buffer): ParsedBody {
  if (body.byteLength === 0) return refused('The body is empty, expected a JSON object')
  // Decoding replaces what is no UTF-8, and the replacement would be stored as if the client had sent it.
  if (!isUtf8(body)) return refused('The body is not valid UTF-8')
  try {
    return { kind: 'json', value: JSON.parse(body.toString('utf8')) as unknown }
  } catch {
    return refused('The body is not valid JSON')
  }
}

function refused(message: string): ParsedBody {
  return { kind: 'refused', message }
}
