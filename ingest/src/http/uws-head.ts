import type { HttpRequest } from 'uWebSockets.js'
import { lengthRequired, unknownMethod } from './answers.ts'
import type { Answer } from './http-front.ts'
import { knownMethods } from './known-methods.ts'
import type { RequestHead } from './request-head.ts'

/**
 * Reads the head of a request into `head`. Returns the answer to a request that must not be executed.
 *
 * Chunked bodies are among these: the native parser takes `;` for a digit of the chunk's size, accepts lines that end in
 * LF alone and reads trailers as the next request, and hands on only what it took for the content.
 */
export function readHead(head: RequestHead, request: HttpRequest): Answer | undefined {
  head.reset()
  request.forEach(head.add)
  return head.refusal(true) ?? (head.isChunked ? lengthRequired : undefined)
}

/** Returns the query without its question mark. The native parser has none where there is none. */
export function queryOf(request: HttpRequest): string {
  const query: string | undefined = request.getQuery()
  return query ?? ''
}

/** As above, for routes that take any method. The native parser takes any text for one, such as the end of a body. */
export function readHeadWithMethod(head: RequestHead, request: HttpRequest): Answer | undefined {
  const refusal = readHead(head, request)
  if (refusal !== undefined) return refusal
  return knownMethods.has(request.getCaseSensitiveMethod()) ? undefined : unknownMethod
}
