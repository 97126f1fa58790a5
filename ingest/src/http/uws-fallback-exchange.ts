import { Readable } from 'node:stream'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { BodyCollector } from './body-collector.ts'
import type { Answer, FallbackAnswer, FallbackRequest } from './http-front.ts'
import { sendAnswer, utf8, writeHead } from './uws-answer.ts'
import type { UwsContext } from './uws-context.ts'
import { queryOf, readHeadWithMethod } from './uws-head.ts'
import { refuseAndClose } from './uws-refusal.ts'
import { isZeroLength } from './uws-zero-length.ts'

export function serveFallback(
  context: UwsContext,
  response: HttpResponse,
  request: HttpRequest,
): void {
  const refusal = readHeadWithMethod(context.head, request)
  if (refusal !== undefined) return refuseAndClose(context, response, refusal)
  const exchange = new FallbackExchange(context, response, request)
  response.onAborted(() => exchange.abort())
  response.onData((piece, isLast) => exchange.receive(piece, isLast))
  if (exchange.hasNoBody) exchange.receive(new ArrayBuffer(0), true)
}

/** One request that is not for a hot route. Its body is collected, and its response may be a stream. */
class FallbackExchange {
  readonly #context: UwsContext
  readonly #collector: BodyCollector
  readonly #aborting = new AbortController()
  readonly #head: Omit<FallbackRequest, 'body' | 'signal'>
  readonly hasNoBody: boolean
  readonly #isLast: boolean
  #hasWholeBody = false
  /** The response is undefined once the request is answered or aborted. */
  #response: HttpResponse | undefined

  /** `request` is valid only during this call. */
  constructor(context: UwsContext, response: HttpResponse, request: HttpRequest) {
    this.#context = context
    this.#response = response
    const headers: [string, string][] = []
    request.forEach((name, value) => headers.push([name, value]))
    const query = queryOf(request)
    this.#head = {
      method: request.getCaseSensitiveMethod(),
      target: request.getUrl() + (query === '' ? '' : `?${query}`),
      headers,
      requestId: context.head.requestId,
      remoteAddress: Buffer.from(response.getRemoteAddressAsText()).toString('latin1'),
    }
    const announcedLength = context.head.contentLength
    this.#isLast = context.head.isLast
    this.hasNoBody = isZeroLength(announcedLength)
    this.#collector = new BodyCollector(
      context.options.limits,
      context.budget,
      Number(announcedLength),
    )
    context.inFlight += 1
  }

  receive(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#response === undefined || this.#hasWholeBody) return
    this.#hasWholeBody = isLast
    this.#collector.add(new Uint8Array(piece))
    const { refusal } = this.#collector
    if (refusal !== undefined) {
      if (isLast || this.#collector.exceedsDiscardLimit) {
        this.#whenPacketIsRead(() => this.#sendWhole(refusal, !isLast))
      }
      return
    }
    if (isLast) void this.#answer(this.#collector.bytes())
  }

  abort(): void {
    this.#finish()
    this.#aborting.abort()
  }

  async #answer(body: Uint8Array): Promise<void> {
    const { options } = this.#context
    let answer: FallbackAnswer
    try {
      answer = await options.fallback({ ...this.#head, body, signal: this.#aborting.signal })
    } catch (error) {
      if (this.#response === undefined) return
      const failure = options.answerFailure(error, this.#head.requestId)
      return this.#whenPacketIsRead(() => this.#sendWhole(failure, false))
    }
    this.#whenPacketIsRead(() => this.#send(answer))
  }

  /** Until the last request of a connection is answered, uWebSockets.js does not execute later requests in the same packet. */
  #whenPacketIsRead(send: () => void): void {
    if (this.#isLast) setImmediate(send)
    else send()
  }

  #send(answer: FallbackAnswer): void {
    const { body } = answer
    if (body instanceof Readable) return this.#sendStream(answer, body)
    const response = this.#response
    if (response === undefined) return
    this.#finish()
    response.cork(() => {
      writeHead(response, answer.status, answer.headers, this.#head.requestId)
      const closes = this.#context.isClosing
      if (body !== undefined) response.end(typeof body === 'string' ? utf8(body) : body, closes)
      else if (answer.reportedLength !== undefined) {
        response.endWithoutBody(answer.reportedLength, closes)
      } else {
        // With an undefined length argument, uWebSockets.js would announce 2^63 bytes.
        response.endWithoutBody()
      }
    })
  }

  /**
   * Sends a chunked response. Reading from the source pauses while the client's socket is full, so a slow client costs no memory.
   */
  #sendStream(answer: FallbackAnswer, body: Readable): void {
    const response = this.#response
    if (response === undefined) {
      body.destroy()
      return
    }
    response.cork(() => writeHead(response, answer.status, answer.headers, this.#head.requestId))
    this.#aborting.signal.addEventListener('abort', () => body.destroy())
    body.on('data', (chunk: Uint8Array) => this.#writeChunk(body, chunk))
    body.on('end', () => {
      if (this.#response === undefined) return
      this.#finish()
      response.cork(() => response.end(undefined, this.#context.isClosing))
    })
    // A partial response must not look complete.
    body.on('error', () => {
      if (this.#response === undefined) return
      this.#finish()
      response.close()
    })
  }

  #writeChunk(body: Readable, chunk: Uint8Array): void {
    const response = this.#response
    if (response === undefined) return
    response.cork(() => {
      if (response.write(chunk)) return
      body.pause()
      response.onWritable(() => {
        body.resume()
        return true
      })
    })
  }

  #sendWhole(answer: Answer, mustClose: boolean): void {
    const response = this.#response
    if (response === undefined) return
    this.#finish()
    this.#context.options.onRefused(answer.status)
    sendAnswer(response, answer, {
      hasBody: this.#head.method !== 'HEAD',
      requestId: this.#head.requestId,
      closesConnection: mustClose || this.#context.isClosing,
    })
  }

  #finish(): void {
    if (this.#response === undefined) return
    this.#response = undefined
    this.#context.inFlight -= 1
    this.#collector.release()
  }
}
