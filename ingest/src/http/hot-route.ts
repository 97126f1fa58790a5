import type { BodySchema } from '@tollgate/schemas/http/known-names'
import {
  unknownCodeOf,
  unknownNameIssues,
  type UnknownName,
} from '@tollgate/schemas/http/unknown-names'
import { keyMessages } from '@tollgate/schemas/http/same-words'
import { validationErrorBody, validationIssues } from '@tollgate/schemas/http/validation-error'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { Found, KeyDirectory, KeyHolder } from '../domain/key-holder.ts'
import { parseBody } from '../domain/parse-body.ts'
import { badBody, jsonAnswer, keyRefusals, unsupportedMediaType } from './answers.ts'
import { badHeaderKey, isHeaderKey } from './header-key.ts'
import type { Answer, HotHead, HotRoute } from './http-front.ts'
import {
  countUnknown,
  createFindUnknown,
  withWarnings,
  type UnknownNameCounts,
} from './unknown-in-call.ts'

/** A request that has passed the checks that all hot routes share. */
export type HotCall<Input> = {
  readonly holder: KeyHolder
  readonly authorization: string
  readonly requestId: string
  readonly input: Input
  readonly caller: Caller | undefined
}

export type HotRouteParts<Input> = {
  readonly path: string
  readonly keys: KeyDirectory
  /**
   * Reads ordinary bodies quickly. Returns undefined for all others, which the schema then accepts or refuses. Both accept the same
   * bodies.
   */
  readonly accept?: (body: unknown) => Input | undefined
  readonly schema: BodySchema<Input>
  readonly unknownNames: UnknownNameCounts
  /** Uses the key of an Idempotency-Key header if the body has none. Undefined if the route has no such field. */
  readonly withHeaderKey?: (input: Input, key: string) => Input
  readonly nowMs: () => number
  readonly handle: (call: HotCall<Input>) => Answer | Promise<Answer>
}

/** Returns a route that checks, in this order: key, content type, body, schema. Then it calls `handle`. */
export function hotRoute<Input>(parts: HotRouteParts<Input>): HotRoute {
  const { keys, unknownNames } = parts
  const findUnknown = createFindUnknown(parts.schema)
  const serve = (
    holder: Found,
    head: HotHead,
    body: Buffer,
    caller: Caller | undefined,
  ): Answer | Promise<Answer> => {
    if (typeof holder === 'string') return keyRefusals[holder]
    const parsed = parseBody(body)
    if (parsed.kind === 'refused') return badBody(parsed.fault)
    const unknown = findUnknown(head, parsed.value)
    const input = readInput(parts, parsed.value)
    if (unknown.length === 0) {
      return input.kind === 'refused'
        ? input.answer
        : handle(parts, holder, head, input.input, caller)
    }
    const isRefused = input.kind === 'accepted' && (head.isStrict || holder.isStrict === true)
    countUnknown(unknownNames, unknown, isRefused ? 'refused' : 'warned')
    if (isRefused) return unknownAnswer(parts, unknown)
    if (input.kind === 'refused') return withWarnings(input.answer, unknown)
    const answer = handle(parts, holder, head, input.input, caller)
    if (!(answer instanceof Promise)) return withWarnings(answer, unknown)
    return answer.then((made) => withWarnings(made, unknown))
  }
  return {
    refuse(head) {
      const holder = keys.peek(head.authorization)
      if (typeof holder === 'string' && holder !== 'unknown') return keyRefusals[holder]
      return refusalOfMediaType(head)
    },
    answer(head, body, caller) {
      const holder = keys.peek(head.authorization)
      if (!isKeyFault(holder)) {
        const refusal = refusalOfMediaType(head)
        if (refusal !== undefined) return refusal
      }
      if (holder !== 'unknown') return serve(holder, head, body, caller)
      // The body is memory of the socket, which is reused before the key has been read.
      const copy = Buffer.from(body)
      return keys.find(head.authorization).then((found) => serve(found, head, copy, caller))
    },
  }
}

function handle<Input>(
  parts: HotRouteParts<Input>,
  holder: KeyHolder,
  head: HotHead,
  given: Input,
  caller: Caller | undefined,
): Answer | Promise<Answer> {
  const { authorization, idempotencyKey, requestId } = head
  if (idempotencyKey === '' || parts.withHeaderKey === undefined) {
    return parts.handle({ holder, authorization, requestId, input: given, caller })
  }
  if (!isHeaderKey(idempotencyKey)) return badHeaderKey
  const input = parts.withHeaderKey(given, idempotencyKey)
  return parts.handle({ holder, authorization, requestId, input, caller })
}

function isKeyFault(found: Found | 'unknown'): boolean {
  return typeof found === 'string' && Object.hasOwn(keyMessages, found)
}

type ReadInput<Input> =
  | { readonly kind: 'accepted'; readonly input: Input }
  | { readonly kind: 'refused'; readonly answer: Answer }

function readInput<Input>(parts: HotRouteParts<Input>, body: unknown): ReadInput<Input> {
  const accepted = parts.accept?.(body)
  if (accepted !== undefined) return { kind: 'accepted', input: accepted }
  const result = parts.schema.safeParse(body)
  if (result.success) return { kind: 'accepted', input: result.data }
  return { kind: 'refused', answer: validationAnswer(parts, validationIssues(result.error, body)) }
}

type AnswerParts = { readonly path: string; readonly nowMs: () => number }

/** Returns the refusal of a request with unknown names in strict mode. */
function unknownAnswer({ path, nowMs }: AnswerParts, names: readonly UnknownName[]): Answer {
  const nowIso = new Date(nowMs()).toISOString()
  const code = unknownCodeOf(names)
  return jsonAnswer(400, validationErrorBody(unknownNameIssues(names), path, nowIso, code))
}

export function validationAnswer(parts: AnswerParts, issues: readonly ValidationIssue[]): Answer {
  const nowIso = new Date(parts.nowMs()).toISOString()
  return jsonAnswer(400, validationErrorBody(issues, parts.path, nowIso))
}

/**
 * Accepts any content type for a body that parses as JSON, because clients often send a wrong one. Forms are refused with 415,
 * which explains the problem better than the message that the body is not JSON.
 */
function refusalOfMediaType({ contentType }: HotHead): Answer | undefined {
  if (contentType === '' || contentType === 'application/json') return undefined
  const isForm = /^\s*(multipart\/|application\/x-www-form-urlencoded)/i.test(contentType)
  return isForm ? unsupportedMediaType : undefined
}
