import type { BulkBody } from '@tollgate/schemas/http/bulk'
import { referenceCharsMax } from '@tollgate/schemas/limits'
import { idempotencyKeyMessage } from '@tollgate/schemas/http/same-words'
import { refusal } from './answers.ts'

/* The key in an `Idempotency-Key` header replaces a missing body field `idempotencyKey`. */

/**
 * Returns whether the text is at most as long as the body field may be, and consists of characters that every HTTP server reads
 * alike.
 */
export function isHeaderKey(text: string): boolean {
  return text.length <= referenceCharsMax && /^[\x20-\x7e]+$/.test(text)
}

export const badHeaderKey = refusal(
  'invalid_idempotency_key',
  idempotencyKeyMessage(referenceCharsMax),
)

type Keyed = { readonly idempotencyKey?: string | undefined }

/** A key in the body has precedence over the header. An empty key in the body counts as missing. */
export function keyedByHeader<Input extends Keyed>(input: Input, key: string): Input {
  return input.idempotencyKey ? input : { ...input, idempotencyKey: key }
}

/**
 * Gives each record without a key the header's key with the record's position in the list. A repeated request with the same list
 * therefore records nothing twice.
 */
export function allKeyedByHeader<Item extends Keyed, Body extends BulkBody<Item>>(
  body: Body,
  key: string,
): Body {
  const keyed = (items: readonly Item[]): Item[] =>
    items.map((item, index) => keyedByHeader(item, `${index}:${key}`))
  if (body.events !== undefined) return { ...body, events: keyed(body.events) }
  if (body.records !== undefined) return { ...body, records: keyed(body.records) }
  return body
}
