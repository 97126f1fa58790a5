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
  /** Looking up, connecting and TLS. */
  readonly connectTimeoutMs: number
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number
  /** Of what is fetched; a post says for itself how much it wants. */
  readonly answerBytesMax: number
  /** To one scheme, host and port. What is sent beyond waits, and its time runs. */
  readonly connectionsPerOriginMax: number
  readonly resolve?: Resolve
  /** In PEM, instead of those of the system. */
  readonly certificateAuthorities?: string
}

/** Like the global `fetch`, for text or no body. Rejects with an OutboundError; so does reading the answer's body. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * The only way out to addresses that somebody gave us: nothing but public servers and what the operator allows is reached,
 * no redirect is followed, nothing is unpacked, and neither time nor bytes are without end.
 */
export class GuardedHttp {
  readonly #options: GuardedHttpOptions
  readonly #agent: Agent

  constructor(options: GuardedHttpOptions) {
    this.#options = options
    this.#agent = openAgent(options)
  }

  /** As each request judges it: for telling whoever enters an address at once. */
  judge(url: string): UrlJudgement {
    return judgeUrl(url, this.#options)
  }

  /** May be passed on by itself. */
  readonly fetch: GuardedFetch = (url, init = {}) => this.#fetch(String(url), init)

  /** Sends bytes, and brings back what came of it with where it went and how long it took. Never rejects. */
  async post(post: OutboundPost): Promise<PostOutcome> {
    const judgement = this.judge(post.url)
    if (judgement.kind === 'refused') return refusedPost(judgement.reason)
    const begunAt = performance.now()
    const { timeoutMs } = this.#options
    const outcome = await exchange(this.#agent, judgement.url, post, timeoutMs)
    const leftMs = timeoutMs - (performance.now() - begunAt)
    // A server may close an idle connection in the moment in which we take it. That says nothing about the server.
    return wasTooLateForConnection(outcome) && leftMs > 0
      ? exchange(this.#agent, judgement.url, post, leftMs)
      : outcome
  }

  /**
   * Sends a request and resolves with the answer's headers as soon as they are there; its body is read as it comes, with
   * backpressure. Time is the caller's: `signal` ends the request. Rejects with an OutboundError, unless `signal` ended it.
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
      // Whoever ends a request knows why.
      if (init.signal?.aborted === true) throw error
      throw toOutboundError(error)
    }
  }
}

const headerBytesMax = 16_384

/** Beyond a body: its headers, those of 1xx, and what frames it. Each byte of a body may stand in a chunk of its own, of six. */
const wireBytesMax = (answerBytesMax: number): number => 1_048_576 + 8 * answerBytesMax

/** Long enough for a stream of requests, and so short that a name that leads elsewhere by now is soon followed. */
const connectionLifetimeMs = 60_000
const idleMsMax = 15_000

function openAgent(options: GuardedHttpOptions): Agent {
  const { answerBytesMax, connectionsPerOriginMax } = options
  const { resolve = resolveOutbound(options.allowed) } = options
  const connect = checkedConnector({ ...options, resolve })
  return new Agent({
    maxHeaderSize: headerBytesMax,
    // Each request has a time of its own, which does not begin again with each byte.
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

/** Packed answers are never unpacked, so that none grows beyond its bytes. */
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

/** The body's own failures come in our words as well. */
function checkedBody(body: Readable, bytesMax: number): ReadableStream<Uint8Array> {
  // Ended before its end, the body fails once more when nobody reads it any longer.
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
