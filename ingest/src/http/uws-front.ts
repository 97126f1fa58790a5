import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { methodNotAllowed } from './answers.ts'
import { BodyBudget } from './body-collector.ts'
import type { FrontOptions, HotRoute, HttpFront } from './http-front.ts'
import { RequestHead } from './request-head.ts'
import { sendAnswer } from './uws-answer.ts'
import type { UwsContext } from './uws-context.ts'
import { serveFallback } from './uws-fallback-exchange.ts'
import { readHeadWithMethod } from './uws-head.ts'
import { HotExchange } from './uws-hot-exchange.ts'
import type { UwsModule } from './uws-load.ts'
import { refuseAndClose } from './uws-refusal.ts'

/** Milliseconds between two checks of whether all requests have been answered during a close. */
const drainPollMs = 10

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the types of the package lack. */
const exclusivePort = 1

/** The native function also takes options together with a host, which its types leave out. */
type WithListenOptions = {
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: us_listen_socket | false) => void,
  ): unknown
}

export class UwsFront implements HttpFront {
  readonly kind = 'uws'
  readonly #uws: UwsModule
  readonly #app: TemplatedApp
  readonly #context: UwsContext
  #listenSocket: us_listen_socket | undefined

  constructor(uws: UwsModule, options: FrontOptions) {
    this.#uws = uws
    this.#app = uws.App()
    this.#context = {
      options,
      budget: new BodyBudget(options.limits.collectedBytesMax),
      head: new RequestHead(),
      inFlight: 0,
      isClosing: false,
    }
    for (const [path, route] of options.hotRoutes) this.#register(path, route)
    this.#app.any('/*', (response, request) => serveFallback(this.#context, response, request))
  }

  listen(host: string, port: number, isShared = false): Promise<number> {
    // uWebSockets.js shares ports by default. A second instance would start unnoticed and get some of the requests.
    const options = isShared ? 0 : exclusivePort
    return new Promise((resolve, reject) => {
      const app = this.#app as unknown as WithListenOptions
      app.listen(host, port, options, (socket) => {
        // uWebSockets.js does not report the reason. In practice it is a port that is in use.
        if (socket === false)
          return reject(new Error(`Cannot listen on ${host}:${port}: is the port in use?`))
        this.#listenSocket = socket
        resolve(this.#uws.us_socket_local_port(socket))
      })
    })
  }

  async close(graceMs: number): Promise<void> {
    if (this.#context.isClosing) return
    this.#context.isClosing = true
    if (this.#listenSocket !== undefined) this.#uws.us_listen_socket_close(this.#listenSocket)
    const deadline = performance.now() + graceMs
    while (this.#context.inFlight > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, drainPollMs))
    }
    this.#app.close()
  }

  #register(path: string, route: HotRoute): void {
    const context = this.#context
    this.#app.post(path, (response, request) =>
      HotExchange.begin(context, route, response, request),
    )
    this.#app.options(path, (response, request) => serveFallback(context, response, request))
    this.#app.any(path, (response, request) => refuseMethod(context, response, request))
  }
}

/** uWebSockets.js reads and discards a body without a handler. */
function refuseMethod(context: UwsContext, response: HttpResponse, request: HttpRequest): void {
  const refusal = readHeadWithMethod(context.head, request)
  if (refusal !== undefined) return refuseAndClose(context, response, refusal)
  context.options.onRefused(methodNotAllowed.status)
  const hasBody = request.getMethod() !== 'head'
  const { requestId } = context.head
  let isOpen = true
  // uWebSockets.js ends the process if a handler that responds asynchronously has not registered this callback.
  response.onAborted(() => {
    isOpen = false
  })
  const send = (): void => {
    if (isOpen)
      sendAnswer(response, methodNotAllowed, { hasBody, closesConnection: false, requestId })
  }
  // As in the exchanges, requests after the last request of a connection must not be executed.
  if (context.head.isLast) setImmediate(send)
  else send()
}
