import type { Readable } from 'node:stream'
import { Agent, Pool, type Dispatcher } from 'undici'
import { checkedConnector } from './checked-connector.ts'
import { ConnectionClient } from './connection-client.ts'
import { judgeUrl, type UrlJudgement, type UrlRules } from './judge-url.ts'
import { OutboundError, toOutboundError } from './outbound-error.ts'
import { openAnswer, type OpenedAnswer, type OutboundRequest } from './open-answer.ts'
import { exchange, type OutboundPost, type PostOutcome } from './post.ts'
import { resolveOutbound, type Resolve } from './resolve.ts'

export type GuardedHttpOptions = UrlRules & {
  /** Timeout for DNS lookup, connecting and the TLS handshake, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Timeout from the call to the last byte of the response, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum bytes of a fetched response body. A post has its own limit. */
  readonly answerBytesMax: number
  /** Maximum connections to one scheme, host and port. Further requests wait, and their timeout runs. */
  readonly connectionsPerOriginMax: number
  readonly resolve?: Resolve
  /** Certificate authorities in PEM, used instead of those of the system. */
  readonly certificateAuthorities?: string
}

/** Like the global `fetch`, for requests with text or no body. Rejects with an OutboundError; so does reading the body. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * Sends requests to URLs that providers configure. All such requests must use this class. It reaches only public servers and what
 * the operator allows, follows no redirect, decompresses nothing, and limits time and bytes.
 */
export class GuardedHttp {
  readonly #options: GuardedHttpOptions
  readonly #agent: Agent

  constructor(options: GuardedHttpOptions) {
    this.#options = options
    this.#agent = openAgent(options)
  }

  /** Checks a URL as each request does, so that an invalid one can be reported when it is entered. */
  judge(url: string): UrlJudgement {
    return judgeUrl(url, this.#options)
  }

  /** Sends a request. The function may be passed on without its object. */
  readonly fetch: GuardedFetch = (url, init = {}) => this.#fetch(String(url), init)

  /** Sends a POST and returns its outcome with the address and the timings. Never rejects. */
  async post(post: OutboundPost): Promise<PostOutcome> {
    const judgement = this.judge(post.url)
    if (judgement.kind === 'refused') return refusedPost(judgement.reason)
    const startedAt = performance.now()
    const { timeoutMs } = this.#options
    const outcome = await exchange(this.#agent, judgement.url, post, timeoutMs)
    const leftMs = timeoutMs - (performance.now() - startedAt)
    // A server may close an idle keep-alive connection just when it is reused. That is not a failure of the server, so the request
    // is sent again.
    return wasTooLateForConnection(outcome) && leftMs > 0
      ? exchange(this.#agent, judgement.url, post, leftMs)
      : outcome
  }

  /**
   * Sends a request and resolves with the response headers as soon as they arrive. The body is streamed with backpressure. No
   * timeout applies: `signal` ends the request. Rejects with an OutboundError, unless `signal` ended it.
   */
  async open(request: OutboundRequest): Promise<OpenedAnswer> {
    return openAnswer(this.#agent, this.#requireAllowed(request.url), request)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  #requireAllowed(text: string): URL {
    const judgement = this.judge(text)
    if (judgement.kind === 'accepted') return judgement.url
    throw new OutboundError('refused', `The address ${judgement.reason}`)
  }

  async #fetch(text: string, init: RequestInit): Promise<Response> {
    const { origin, pathname, search } = this.#requireAllowed(text)
    const deadline = AbortSignal.timeout(this.#options.timeoutMs)
    try {
      const answer = await this.#agent.request({
        origin,
        path: pathname + search,
        method: methodOf(init),
        headers: headersOf(init),
        body: bodyOf(init),
        signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
      })
      return toResponse(answer, this.#options.answerBytesMax)
    } catch (error) {
      // A caller that aborts a request gets its own reason.
      if (init.signal?.aborted === true) throw error
      throw toOutboundError(error)
    }
  }
}

const headerBytesMax = 16_384

/**
 * Maximum bytes on the wire for one response: body, headers, 1xx responses and framing. Each byte of a body may be a chunk of its
 * own, which adds 5 bytes.
 */
const wireBytesMax = (answerBytesMax: number): number => 1_048_576 + 8 * answerBytesMax

/** Long enough to reuse a connection for many requests, and short enough that a change of DNS takes effect soon. */
const connectionLifetimeMs = 60_000
const idleMsMax = 15_000

function openAgent(options: GuardedHttpOptions): Agent {
  const { answerBytesMax, connectionsPerOriginMax } = options
  const { resolve = resolveOutbound(options.allowed) } = options
  const connect = checkedConnector({ ...options, resolve })
  return new Agent({
    maxHeaderSize: headerBytesMax,
    // Each request has its own total timeout, which does not restart with each byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveMaxTimeout: idleMsMax,
    factory: (origin, given) =>
      new Pool(origin, {
        ...given,
        connections: connectionsPerOriginMax,
        clientTtl: connectionLifetimeMs,
        factory: (each, clientOptions) =>
          new ConnectionClient(each, clientOptions, connect, wireBytesMax(answerBytesMax)),
      }),
  })
}

function refusedPost(reason: string): PostOutcome {
  const trip = {
    address: null,
    isConnectionReused: false,
    connectMs: null,
    headersMs: null,
    totalMs: 0,
  }
  const message = `The address ${reason}`
  return { kind: 'failed', failure: 'refused', message, status: null, trip }
}

function wasTooLateForConnection(outcome: PostOutcome): boolean {
  if (outcome.kind === 'answered' || outcome.status !== null) return false
  return outcome.failure === 'cut-off' && outcome.trip.isConnectionReused
}

function methodOf({ method = 'GET' }: RequestInit): 'GET' | 'POST' | 'DELETE' {
  const known = (['GET', 'POST', 'DELETE'] as const).find((each) => each === method.toUpperCase())
  if (known === undefined) throw new TypeError(`${method} is not sent to addresses given to us`)
  return known
}

/** Responses are never decompressed, so that none grows beyond its bytes. */
function headersOf({ headers }: RequestInit): Record<string, string> {
  return { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' }
}

function bodyOf({ body }: RequestInit): string | null {
  if (body === undefined || body === null || typeof body === 'string') return body ?? null
  throw new TypeError('only text is sent to addresses given to us')
}

const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304])

function toResponse(
  { statusCode: status, headers: given, body }: Dispatcher.ResponseData,
  bytesMax: number,
): Response {
  const headers = new Headers()
  for (const [name, values] of Object.entries(given)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  if (!statusesWithoutBody.has(status)) {
    return new Response(checkedBody(body, bytesMax), { status, headers })
  }
  body.resume()
  return new Response(null, { status, headers })
}

/** Returns the body as a stream with a size limit. Its errors are converted to OutboundError. */
function checkedBody(body: Readable, bytesMax: number): ReadableStream<Uint8Array> {
  // A body that is destroyed early emits another error when nothing reads it.
  body.on('error', () => undefined)
  const chunks = body[Symbol.asyncIterator]()
  let bytes = 0
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = (await chunks.next()) as IteratorResult<Buffer, undefined>
        if (next.done === true) return controller.close()
        bytes += next.value.byteLength
        if (bytes > bytesMax) throw tooLarge()
        controller.enqueue(new Uint8Array(next.value))
      } catch (error) {
        body.destroy()
        controller.error(toOutboundError(error))
      }
    },
    cancel: () => {
      body.destroy()
    },
  })
}

function tooLarge(): OutboundError {
  return new OutboundError('too-large', 'The address answered with too much')
}
