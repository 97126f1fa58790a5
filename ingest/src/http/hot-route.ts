import { validationErrorBody, validationIssues } from '@tollgate/schemas/http/validation-error'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { Found, KeyDirectory, KeyHolder } from '../domain/key-holder.ts'
import { parseBody } from '../domain/parse-body.ts'
import {
  badRequest,
  forbidden,
  jsonAnswer,
  misplaced,
  unauthorized,
  unsupportedMediaType,
} from './answers.ts'
import { badHeaderKey, isHeaderKey } from './header-key.ts'
import type { Answer, HotHead, HotRoute } from './http-front.ts'

/** A request that has passed everything that all hot routes ask for. */
export type HotCall<Input> = {
  readonly holder: KeyHolder
  readonly authorization: string
  readonly input: Input
  readonly caller: Caller | undefined
}

/** A schema of the contracts, as far as it is used here. */
type BodySchema<Input> = {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Input }
    | { readonly success: false; readonly error: Parameters<typeof validationIssues>[0] }
}

export type HotRouteParts<Input> = {
  readonly path: string
  readonly keys: KeyDirectory
  /** Reads the plain case quickly, or leaves it to the schema, which decides and explains. The two never differ. */
  readonly accept?: (body: unknown) => Input | undefined
  readonly schema: BodySchema<Input>
  /** Puts the key of an Idempotency-Key header where the body has none. Undefined: the route has no such field. */
  readonly withHeaderKey?: (input: Input, key: string) => Input
  readonly nowMs: () => number
  readonly handle: (call: HotCall<Input>) => Answer | Promise<Answer>
}

/** The order every hot route keeps: key, content type, body, schema, and only then what the route does. */
export function hotRoute<Input>(parts: HotRouteParts<Input>): HotRoute {
  const { keys } = parts
  const handle = (
    holder: KeyHolder,
    head: HotHead,
    given: Input,
    caller: Caller | undefined,
  ): Answer | Promise<Answer> => {
    const { authorization, idempotencyKey } = head
    if (idempotencyKey === '' || parts.withHeaderKey === undefined) {
      return parts.handle({ holder, authorization, input: given, caller })
    }
    if (!isHeaderKey(idempotencyKey)) return badHeaderKey
    const input = parts.withHeaderKey(given, idempotencyKey)
    return parts.handle({ holder, authorization, input, caller })
  }
  const serve = (
    holder: Found,
    head: HotHead,
    body: Buffer,
    caller: Caller | undefined,
  ): Answer | Promise<Answer> => {
    if (typeof holder === 'string') return refusalsOfKeys[holder]
    const parsed = parseBody(body)
    if (parsed.kind === 'refused') return badRequest(parsed.message)
    const accepted = parts.accept?.(parsed.value)
    if (accepted !== undefined) return handle(holder, head, accepted, caller)
    const result = parts.schema.safeParse(parsed.value)
    if (!result.success) {
      return validationAnswer(parts, validationIssues(result.error, parsed.value))
    }
    return handle(holder, head, result.data, caller)
  }
  return {
    refuse(head) {
      const holder = keys.peek(head.authorization)
      if (typeof holder === 'string' && holder !== 'unknown') return refusalsOfKeys[holder]
      return refusalOfMediaType(head)
    },
    answer(head, body, caller) {
      const holder = keys.peek(head.authorization)
      if (holder !== 'refused') {
        const refusal = refusalOfMediaType(head)
        if (refusal !== undefined) return refusal
      }
      if (holder !== 'unknown') return serve(holder, head, body, caller)
      // The body is the socket's memory and would be gone when the key has been looked up.
      const copy = Buffer.from(body)
      return keys.find(head.authorization).then((found) => serve(found, head, copy, caller))
    },
  }
}

const refusalsOfKeys = { refused: unauthorized, forbidden, misplaced } as const

export function validationAnswer(
  parts: { readonly path: string; readonly nowMs: () => number },
  issues: readonly ValidationIssue[],
): Answer {
  const nowIso = new Date(parts.nowMs()).toISOString()
  return jsonAnswer(400, validationErrorBody(issues, parts.path, nowIso))
}

/**
 * Whatever parses as JSON is taken, since clients get the content type wrong. Forms are refused by name: their
 * senders deserve to hear what is wrong rather than that their body is no JSON.
 */
function refusalOfMediaType({ contentType }: HotHead): Answer | undefined {
  if (contentType === '' || contentType === 'application/json') return undefined
  const isForm = /^\s*(multipart\/|application\/x-www-form-urlencoded)/i.test(contentType)
  return isForm ? unsupportedMediaType : undefined
}
