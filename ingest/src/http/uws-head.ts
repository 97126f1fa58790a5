import type { HttpRequest } from 'uWebSockets.js'
import { lengthRequired, unknownMethod } from './answers.ts'
import type { Answer } from './http-front.ts'
import { knownMethods } from './known-methods.ts'
import type { RequestHead } from './request-head.ts'

/**
 * Reads the head of a request into `head`. Returns the response to a request that must not be executed, otherwise undefined.
 *
 * Requests with chunked bodies are refused as well. The native parser takes `;` for a digit of the chunk size, accepts lines that
 * end in LF alone, reads trailers as the next request, and passes on only the bytes that it took for content.
 */
export function readHead(head: RequestHead, request: HttpRequest): Answer | undefined {
  head.reset()
  request.forEach(head.add)
  return head.refusal(true) ?? (head.isChunked ? lengthRequired : undefined)
}

/** Returns the query without the question mark. The native parser returns undefined for a request without a query. */
export function queryOf(request: HttpRequest): string {
  const query: string | undefined = request.getQuery()
  return query ?? ''
}

/**
 * Reads the head like `readHead`, for routes that accept any method. The native parser accepts any text as a method, such as the
 * end of a body.
 */
export function readHeadWithMethod(head: RequestHead, request: HttpRequest): Answer | undefined {
  const refusal = readHead(head, request)
  if (refusal !== undefined) return refusal
  return knownMethods.has(request.getCaseSensitiveMethod()) ? undefined : unknownMethod
}
