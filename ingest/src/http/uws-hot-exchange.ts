import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { BodyCollector } from './body-collector.ts'
import type { Answer, HotHead, HotRoute } from './http-front.ts'
import { sendAnswer } from './uws-answer.ts'
import { queryOf, readHead } from './uws-head.ts'
import { refuseAndClose } from './uws-refusal.ts'
import { isZeroLength } from './uws-zero-length.ts'
import type { UwsContext } from './uws-context.ts'

/**
 * One request to a hot route, from its head to its response. This is the most frequent object of the data plane. A body that
 * arrives in one piece, as nearly all do, is passed on without a copy and without further objects.
 */
export class HotExchange implements Caller {
  readonly #context: UwsContext
  readonly #route: HotRoute
  readonly #head: HotHead
  readonly #announcedLength: string
  readonly #isLast: boolean
  /**
   * The response is undefined once the request is answered or aborted: uWebSockets.js ends the process if it is used after that.
   */
  #response: HttpResponse | undefined
  #collector: BodyCollector | undefined
  #hasWholeBody = false

  static begin(
    context: UwsContext,
    route: HotRoute,
    response: HttpResponse,
    request: HttpRequest,
  ): void {
    // `request` is valid only during this call.
    const refusal = readHead(context.head, request)
    if (refusal !== undefined) return refuseAndClose(context, response, refusal)
    const exchange = new HotExchange(context, route, response, queryOf(request))
    response.onAborted(() => exchange.#finish())
    response.onData((piece, isLast) => exchange.#receive(piece, isLast))
    if (isZeroLength(exchange.#announcedLength)) exchange.#receive(new ArrayBuffer(0), true)
  }

  private constructor(context: UwsContext, route: HotRoute, response: HttpResponse, query: string) {
    const { head, options } = context
    this.#context = context
    this.#route = route
    this.#head = head.hotHead(options.readsTraceHeaders, query)
    this.#announcedLength = head.contentLength
    this.#isLast = head.isLast
    this.#response = response
    context.inFlight += 1
  }

  get isGone(): boolean {
    return this.#response === undefined
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
      if (isLast || collector.exceedsDiscardLimit) this.#send(collector.refusal, !isLast)
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
      const answer = this.#route.answer(this.#head, body, this)
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
    this.#send(this.#context.options.answerFailure(error, this.#head.requestId), false)
  }

  #send(answer: Answer, mustClose: boolean): void {
    // Until the response is sent, uWebSockets.js does not execute later requests in the same packet.
    if (this.#isLast) setImmediate(() => this.#sendNow(answer, mustClose))
    else this.#sendNow(answer, mustClose)
  }

  #sendNow(answer: Answer, mustClose: boolean): void {
    const response = this.#response
    // The client may have disconnected before the response was ready.
    if (response === undefined) return
    this.#finish()
    if (answer.status !== 200) this.#context.options.onRefused(answer.status)
    sendAnswer(response, answer, {
      hasBody: true,
      requestId: this.#head.requestId,
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
