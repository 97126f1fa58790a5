import type { BulkBody } from '@tollgate/schemas/http/bulk'
import { referenceCharsMax } from '@tollgate/schemas/limits'
import { idempotencyKeyMessage } from '@tollgate/schemas/http/same-words'
import { refusal } from './answers.ts'

/* The key of an `Idempotency-Key` header stands for the body field `idempotencyKey`. */

/** As long as the body field may be, and of characters that every HTTP server reads alike. */
export function isHeaderKey(text: string): boolean {
  return text.length <= referenceCharsMax && /^[\x20-\x7e]+$/.test(text)
}

export const badHeaderKey = refusal(
  'invalid_idempotency_key',
  idempotencyKeyMessage(referenceCharsMax),
)

type Keyed = { readonly idempotencyKey?: string | undefined }

/** The body's own key wins, and an empty one says the same as none. */
export function keyedByHeader<Input extends Keyed>(input: Input, key: string): Input {
  return input.idempotencyKey ? input : { ...input, idempotencyKey: key }
}

/**
 * Each record without a key of its own gets the header's with its place in the list: repeated with the same list, the
 * request records nothing twice.
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
