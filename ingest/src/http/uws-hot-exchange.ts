import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { BodyCollector } from './body-collector.ts'
import type { Answer, HotHead, HotRoute } from './http-front.ts'
import { sendAnswer } from './uws-answer.ts'
import { isZeroLength } from './uws-zero-length.ts'
import type { UwsContext } from './uws-context.ts'

/**
 * One request to a hot route, from its head to its answer. This is the hottest object of the product: a body that
 * comes in one piece, as nearly all do, is handed on where it lies, and nothing else is made for it.
 */
export class HotExchange {
  readonly #context: UwsContext
  readonly #route: HotRoute
  readonly #head: HotHead
  readonly #announcedLength: string
  /** Undefined once answered or aborted: uWebSockets.js ends the process when it is used then. */
  #response: HttpResponse | undefined
  #collector: BodyCollector | undefined
  #hasWholeBody = false

  static begin(
    context: UwsContext,
    route: HotRoute,
    response: HttpResponse,
    request: HttpRequest,
  ): void {
    const exchange = new HotExchange(context, route, response, request)
    response.onAborted(() => exchange.#finish())
    response.onData((piece, isLast) => exchange.#receive(piece, isLast))
    if (isZeroLength(exchange.#announcedLength)) exchange.#receive(new ArrayBuffer(0), true)
  }

  /** The request is only readable now. */
  private constructor(
    context: UwsContext,
    route: HotRoute,
    response: HttpResponse,
    request: HttpRequest,
  ) {
    this.#context = context
    this.#route = route
    this.#head = context.options.readsTraceHeaders ? tracedHeadOf(request) : headOf(request)
    this.#announcedLength = request.getHeader('content-length')
    this.#response = response
    context.inFlight += 1
  }

  #receive(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#response === undefined || this.#hasWholeBody) return
    this.#hasWholeBody = isLast
    if (
      isLast &&
      this.#collector === undefined &&
      piece.byteLength <= this.#context.options.limits.bodyBytesMax
    ) {
      return this.#answer(Buffer.from(piece))
    }
    const collector = (this.#collector ??= this.#beginCollecting())
    collector.add(new Uint8Array(piece))
    if (collector.refusal !== undefined) {
      if (isLast || collector.isHopeless) this.#send(collector.refusal, !isLast)
      return
    }
    if (isLast) this.#answer(collector.bytes())
  }

  #beginCollecting(): BodyCollector {
    const { options, budget } = this.#context
    const collector = new BodyCollector(options.limits, budget, Number(this.#announcedLength))
    const refusal = this.#route.refuse(this.#head)
    if (refusal !== undefined) collector.refuse(refusal)
    return collector
  }

  #answer(body: Buffer): void {
    try {
      const answer = this.#route.answer(this.#head, body)
      if (answer instanceof Promise) {
        answer.then(
          (made) => this.#send(made, false),
          (error: unknown) => this.#fail(error),
        )
      } else this.#send(answer, false)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#send(this.#context.options.answerFailure(error), false)
  }

  #send(answer: Answer, mustClose: boolean): void {
    const response = this.#response
    // The client may have left while the answer was made.
    if (response === undefined) return
    this.#finish()
    if (answer.status !== 200) this.#context.options.onRefused(answer.status)
    sendAnswer(response, answer, {
      hasBody: true,
      closesConnection: mustClose || this.#context.isClosing,
    })
  }

  #finish(): void {
    if (this.#response === undefined) return
    this.#response = undefined
    this.#context.inFlight -= 1
    this.#collector?.release()
  }
}

function headOf(request: HttpRequest): HotHead {
  return {
    authorization: request.getHeader('authorization'),
    contentType: request.getHeader('content-type'),
  }
}

function tracedHeadOf(request: HttpRequest): HotHead {
  const traceparent = request.getHeader('traceparent')
  const tracestate = request.getHeader('tracestate')
  return { ...headOf(request), trace: { traceparent, tracestate } }
}
