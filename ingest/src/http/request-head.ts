import type { TraceHeaders } from '@tollgate/platform/observability/tracing'
import { createRequestIds } from '@tollgate/platform/service/request-ids'
import { isRequestId } from '@tollgate/schemas/http/request-id'
import { isStrictHeader } from '@tollgate/schemas/http/unknown-names'
import {
  ambiguousLength,
  expectationFailed,
  malformedLength,
  repeatedAuthorization,
  unknownTransferCoding,
  wrongHost,
} from './answers.ts'
import type { Answer, HotHead } from './http-front.ts'
import { authorizationOf } from './key-header.ts'

/** Decimal digits, at most 15, so that the number is exact. */
const lengthPattern = /^[0-9]{1,15}$/
const closeToken = /(?:^|,)\s*close\s*(?:,|$)/i

/**
 * Reads the headers of one request, including duplicates. Refuses a request whose end two programs could find at different places,
 * since a proxy in front would then forward a request that it never checked. The object is reused for one request after another,
 * because it is on the path of every request.
 */
export class RequestHead {
  authorization = ''
  apiKey = ''
  idempotencyKey = ''
  contentType = ''
  contentLength = ''
  trace: TraceHeaders = noTrace
  isStrict = false
  isChunked = false
  /** The client announced the end of the connection, so bytes after this request are not executed. */
  isLast = false
  #hosts = 0
  #authorizations = 0
  #apiKeys = 0
  #lengths = 0
  #codings = 0
  #problem: Answer | undefined
  #requestId = ''
  readonly #newRequestId = createRequestIds()

  /** Must be called before the first header of each request. */
  reset(): void {
    this.authorization = ''
    this.apiKey = ''
    this.idempotencyKey = ''
    this.contentType = ''
    this.contentLength = ''
    this.trace = noTrace
    this.isStrict = false
    this.isChunked = false
    this.isLast = false
    this.#hosts = 0
    this.#authorizations = 0
    this.#apiKeys = 0
    this.#lengths = 0
    this.#codings = 0
    this.#problem = undefined
    this.#requestId = ''
  }

  /** `name` must be in lower case. The function is bound, so that it can be passed as a callback. */
  readonly add = (name: string, value: string): void => {
    switch (name) {
      case 'authorization':
        if (this.#authorizations++ === 0) this.authorization = value
        break
      case 'x-api-key':
        if (this.#apiKeys++ === 0) this.apiKey = value
        break
      case 'idempotency-key':
        if (this.idempotencyKey === '') this.idempotencyKey = value
        break
      case 'content-type':
        if (this.contentType === '') this.contentType = value
        break
      case 'content-length':
        if (this.#lengths++ === 0) this.contentLength = value
        break
      case 'transfer-encoding':
        this.#codings++
        this.isChunked = value === 'chunked'
        break
      case 'host':
        this.#hosts++
        break
      case 'connection':
        this.isLast ||= closeToken.test(value)
        break
      case 'upgrade':
        // Ingest never switches protocols, but a client that requests it may immediately send bytes of the other protocol.
        this.isLast = true
        break
      case 'expect':
        if (value.toLowerCase() !== '100-continue') this.#problem = expectationFailed
        break
      case 'x-request-id':
        if (this.#requestId === '' && isRequestId(value)) this.#requestId = value
        break
      case 'tollgate-strict':
        this.isStrict = isStrictHeader(value)
        break
      case 'traceparent':
        this.trace = { ...this.trace, traceparent: value }
        break
      case 'tracestate':
        this.trace = { ...this.trace, tracestate: value }
        break
    }
  }

  /** The request id of the client if it is well-formed, otherwise a generated one. It stays the same until the next request. */
  get requestId(): string {
    if (this.#requestId === '') this.#requestId = this.#newRequestId()
    return this.#requestId
  }

  /** Returns the parts of the head that hot routes use. */
  hotHead(readsTrace: boolean, query: string): HotHead {
    const { contentType, idempotencyKey, requestId, isStrict, trace } = this
    const authorization = authorizationOf(this.authorization, this.apiKey)
    const head = { authorization, contentType, idempotencyKey, requestId, query, isStrict }
    return readsTrace ? { ...head, trace } : head
  }

  /** Returns the response to a request that must not be executed, after which the connection is closed. Otherwise undefined. */
  refusal(requiresHost: boolean): Answer | undefined {
    if (this.#codings > 0) {
      if (this.#lengths > 0) return ambiguousLength
      if (this.#codings > 1 || !this.isChunked) return unknownTransferCoding
    }
    if (this.#lengths > 1 || (this.#lengths === 1 && this.contentLength === '')) {
      return ambiguousLength
    }
    if (this.#lengths === 1 && !lengthPattern.test(this.contentLength)) return malformedLength
    if (this.#hosts > 1 || (requiresHost && this.#hosts === 0)) return wrongHost
    if (this.#authorizations > 1 || this.#apiKeys > 1) return repeatedAuthorization
    return this.#problem
  }
}

const noTrace: TraceHeaders = { traceparent: '', tracestate: '' }
