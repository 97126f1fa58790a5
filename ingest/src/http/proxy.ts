import { Pool, type Dispatcher } from 'undici'
import type { InFlightLimit } from '../domain/in-flight-limit.ts'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { bodyWithId, unavailable, unforwardable, unknownMethod } from './answers.ts'
import { answerHeaders, requestHeaders } from './forwarded-headers.ts'
import type { Answer, FallbackAnswer, FallbackRequest, HeaderList } from './http-front.ts'
import { knownMethods } from './known-methods.ts'
import type { TrustedProxies } from '@tollgate/platform/service/trusted-proxies'

export type ProxyOptions = {
  /** Origin of the control plane, for example `http://127.0.0.1:8788`. */
  readonly upstream: string
  readonly connectionsMax: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly trustedProxies: TrustedProxies
  /** Called with the address of a peer that is not a trusted proxy and sent X-Forwarded-For. */
  readonly onForwardedIgnored: (peer: string) => void
  readonly inFlight: InFlightLimit
  /** Returns the trace headers of requests that ingest makes itself. */
  readonly traceHeaders: () => Readonly<Record<string, string>>
}

/** Responses up to this size are buffered and sent with their length. Larger ones are streamed. */
const bufferedBytesMax = 64 * 1024

/** Forwards all requests that are not for a hot route to the control plane. */
export class Proxy {
  readonly #options: ProxyOptions
  readonly #pool: Pool

  constructor(options: ProxyOptions) {
    this.#options = options
    this.#pool = new Pool(options.upstream, {
      connections: options.connectionsMax,
      headersTimeout: options.headersTimeoutMs,
      bodyTimeout: options.bodyTimeoutMs,
    })
  }

  readonly forward = async (request: FallbackRequest): Promise<FallbackAnswer> => {
    if (!knownMethods.has(request.method)) return toFallbackAnswer(unknownMethod, request.requestId)
    const { inFlight, trustedProxies, onForwardedIgnored } = this.#options
    const bytes = request.body.byteLength
    inFlight.enter(1, bytes)
    try {
      const response = await this.#pool.request({
        method: request.method,
        path: request.target,
        headers: requestHeaders(request, trustedProxies, onForwardedIgnored),
        body: bytes === 0 ? null : request.body,
        signal: request.signal,
      })
      return await toAnswer(request.method, response)
    } catch (error) {
      if (request.signal.aborted) throw error
      return toFallbackAnswer(refusalOf(error), request.requestId)
    } finally {
      inFlight.leave(1, bytes)
    }
  }

  /** Sends one JSON request of a hot route to the control plane, as its client would have sent it. */
  readonly post = (
    path: string,
    authorization: string,
    body: string,
    requestId?: string,
  ): Promise<Answer> => {
    const id = requestId === undefined ? {} : { [requestIdHeader]: requestId }
    const headers = { authorization, 'content-type': 'application/json', ...id }
    return this.#call('POST', path, headers, body)
  }

  readonly get = (path: string, authorization: string): Promise<Answer> =>
    this.#call('GET', path, { authorization }, '')

  async #call(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<Answer> {
    this.#options.inFlight.enter(1, body.length)
    try {
      const response = await this.#pool.request({
        method,
        path,
        headers: { ...headers, ...this.#options.traceHeaders() },
        body: body === '' ? null : body,
      })
      const text = await response.body.text()
      const retryAfter = response.headers['retry-after']
      return {
        status: response.statusCode,
        body: text,
        isComplete: true,
        ...(typeof retryAfter === 'string' ? { headers: [['retry-after', retryAfter]] } : {}),
      }
    } catch (error) {
      return refusalOf(error)
    } finally {
      this.#options.inFlight.leave(1, body.length)
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

async function toAnswer(
  method: string,
  response: Dispatcher.ResponseData,
): Promise<FallbackAnswer> {
  const { statusCode: status, body } = response
  const headers = answerHeaders(response.headers)
  const length = Number(response.headers['content-length'] ?? Number.NaN)
  if (method === 'HEAD' || status === 204 || status === 304) {
    await body.dump()
    const isReported = method === 'HEAD' && Number.isSafeInteger(length)
    return { status, headers, body: undefined, ...(isReported ? { reportedLength: length } : {}) }
  }
  if (length <= bufferedBytesMax) return { status, headers, body: await body.bytes() }
  return { status, headers, body }
}

function toFallbackAnswer(answer: Answer, requestId: string): FallbackAnswer {
  const headers: HeaderList = [['content-type', 'application/json; charset=utf-8']]
  return {
    status: answer.status,
    headers: [...headers, ...(answer.headers ?? [])],
    body: bodyWithId(answer, requestId),
  }
}

/** Error codes of undici for a path or header that it cannot send. */
const invalidRequestCodes: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG'])

function refusalOf(error: unknown): Answer {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (invalidRequestCodes.has(code)) return unforwardable
  if (code === undefined) throw error
  return unavailable('The management API cannot be reached now, try again')
}
