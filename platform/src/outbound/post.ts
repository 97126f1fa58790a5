import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Connection, ConnectionClient, TakenOptions } from './connection-client.ts'
import { OutboundError, toOutboundError, type OutboundFailure } from './outbound-error.ts'

/** A POST request to a URL that a provider configured. */
export type OutboundPost = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Maximum bytes of the response body. A longer body is cut and its connection closed. */
  readonly answerBytesMax: number
}

/** The outcome of a POST. Failures are expected often, so they are values and not errors. */
export type PostOutcome = PostAnswer | PostFailure

/** A response of any status, including redirects. */
export type PostAnswer = {
  readonly kind: 'answered'
  readonly status: number
  readonly headers: AnswerHeaders
  /** The first bytes of the body as received, without decompression. */
  readonly body: Buffer
  readonly isBodyCut: boolean
  readonly trip: Trip
}

/** Response headers with names in lower case. Repeated headers are joined with commas. */
export type AnswerHeaders = Readonly<Record<string, string | undefined>>

export type PostFailure = {
  readonly kind: 'failed'
  readonly failure: OutboundFailure
  /** May be shown to the provider that configured the URL. */
  readonly message: string
  /** Status of a response that began but did not end; null if none began. */
  readonly status: number | null
  readonly trip: Trip
}

export type Trip = {
  /** IP address that the request was sent to; null if it was not sent. */
  readonly address: string | null
  readonly isConnectionReused: boolean
  /** Milliseconds for DNS lookup, connecting and TLS: 0 on a reused connection, null without a connection. */
  readonly connectMs: number | null
  /** Milliseconds from the call to the response headers; null if none arrived. */
  readonly headersMs: number | null
  readonly totalMs: number
}

/** Sends one POST and returns its outcome. Never rejects. */
export function exchange(
  dispatcher: Dispatcher,
  url: URL,
  post: OutboundPost,
  timeoutMs: number,
): Promise<PostOutcome> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(post.answerBytesMax, timeoutMs, resolve)
    const options: TakenOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { ...post.headers, 'accept-encoding': 'identity' },
      body: post.body,
      onTaken: (client) => handler.takenBy(client),
    }
    dispatcher.dispatch(options, handler)
  })
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #startedAt = performance.now()
  readonly #bytesMax: number
  readonly #deadline: NodeJS.Timeout
  #settle: ((outcome: PostOutcome) => void) | undefined
  #client: ConnectionClient | undefined
  #connection: Connection | undefined
  #isConnectionReused = false
  #controller: Dispatcher.DispatchController | undefined
  #answer: { readonly status: number; readonly headers: AnswerHeaders } | undefined
  #headersMs: number | null = null
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(bytesMax: number, timeoutMs: number, settle: (outcome: PostOutcome) => void) {
    this.#bytesMax = bytesMax
    this.#settle = settle
    this.#deadline = setTimeout(() => {
      const error = new OutboundError('timeout', 'The address did not answer in time')
      this.#fail(error)
      this.#controller?.abort(error)
    }, timeoutMs)
  }

  takenBy(client: ConnectionClient): void {
    this.#client = client
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settle === undefined)
      return controller.abort(new Error('The request has already ended'))
    this.#controller = controller
    this.#connection = this.#client?.connection
    if (this.#connection === undefined) return
    this.#isConnectionReused = this.#connection.requests > 0
    this.#connection.requests += 1
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return
    this.#answer = { status, headers: joined(headers) }
    this.#headersMs = this.#elapsedMs()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.byteLength
    if (this.#bytes <= this.#bytesMax) return
    this.#succeed(true)
    controller.abort(new Error('The response body reached its limit'))
  }

  onResponseEnd(): void {
    this.#succeed(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(toOutboundError(error))
  }

  #succeed(isBodyCut: boolean): void {
    const body = Buffer.concat(this.#chunks).subarray(0, this.#bytesMax)
    this.#end({ kind: 'answered', ...this.#answer!, body, isBodyCut, trip: this.#trip() })
  }

  #fail({ failure, message }: OutboundError): void {
    const status = this.#answer?.status ?? null
    this.#end({ kind: 'failed', failure, message, status, trip: this.#trip() })
  }

  /** Resolves with the outcome. Later events do not change it. */
  #end(outcome: PostOutcome): void {
    clearTimeout(this.#deadline)
    this.#settle?.(outcome)
    this.#settle = undefined
  }

  #trip(): Trip {
    const { address = null, connectMs = null } = this.#connection ?? {}
    return {
      address,
      isConnectionReused: this.#isConnectionReused,
      connectMs: this.#isConnectionReused ? 0 : connectMs,
      headersMs: this.#headersMs,
      totalMs: this.#elapsedMs(),
    }
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt
  }
}

function joined(headers: IncomingHttpHeaders): AnswerHeaders {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return Object.fromEntries(entries)
}
