import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { continueInTurn } from '@tollgate/platform/service/interim-answers'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { bodyWithId, methodNotAllowed, unknownTarget, unknownTransferCoding } from './answers.ts'
import { BodyBudget, BodyCollector } from './body-collector.ts'
import type { Answer, FallbackAnswer, FrontOptions, HotRoute, HttpFront } from './http-front.ts'
import { RequestHead } from './request-head.ts'

/** The timeouts are those that uWebSockets.js has built in. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 15_000
const keepAliveTimeoutMs = 10_000
/** By default Node checks for expired connections every 30 s, which is longer than the timeouts above. */
const connectionsCheckedEveryMs = 1_000

export class NodeFront implements HttpFront {
  readonly kind = 'node'
  readonly #options: FrontOptions
  readonly #budget: BodyBudget
  readonly #server: Server
  /** The head of the request that is being read now. It is reused for the next one. */
  readonly #head = new RequestHead()
  /** All open connections. */
  readonly #connections = new Set<Socket>()
  /** Connections on which no further request is executed. */
  readonly #ended = new WeakSet<Socket>()
  #isClosing = false

  constructor(options: FrontOptions) {
    this.#options = options
    this.#budget = new BodyBudget(options.limits.collectedBytesMax)
    this.#server = createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: connectionsCheckedEveryMs,
      // The head check refuses these requests: node:http would answer with 400 and execute the requests that follow.
      requireHostHeader: false,
    })
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket)
      socket.once('close', () => this.#connections.delete(socket))
    })
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      this.#serve(request, response)
    }
    this.#server.on('request', serve)
    this.#server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      const refusal = this.#readHead(request)
      if (refusal === undefined) continueInTurn(request, response)
      serve(request, response)
    })
    // The head check refuses any other expectation.
    this.#server.on('checkExpectation', serve)
  }

  listen(host: string, port: number, isShared = false): Promise<number> {
    return new Promise((resolve, reject) => {
      if (isShared && !canSharePorts()) {
        return reject(
          new Error(
            `node:http cannot share a port on Node ${process.versions.node}. Use uWebSockets.js, Node 22.12 or later, or TOLLGATE_INGEST_WORKERS=1`,
          ),
        )
      }
      this.#server.once('error', reject)
      const address = { host, port, ...(isShared && { reusePort: true }) }
      this.#server.listen(address, () => resolve((this.#server.address() as AddressInfo).port))
    })
  }

  async close(graceMs: number): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    // `close` ends connections that are idle after a request, but waits the whole grace period for one that never sent a byte.
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#connections) if (socket.bytesRead === 0) socket.destroy()
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(timer)
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    // node:http emits further requests of the same packet even after a response that closes the connection.
    if (this.#ended.has(request.socket)) return
    response.on('error', () => response.destroy())
    const refusal = this.#readHead(request)
    const { requestId } = this.#head
    response.setHeader(requestIdHeader, requestId)
    if (refusal !== undefined) {
      this.#ended.add(request.socket)
      return this.#send(response, refusal, true)
    }
    if (this.#head.isLast) this.#ended.add(request.socket)
    const [path = '/', ...query] = (request.url ?? '/').split('?')
    const route = this.#options.hotRoutes.get(path)
    if (route === undefined || request.method === 'OPTIONS') this.#serveFallback(request, response)
    else if (request.method === 'POST') this.#serveHot(route, query.join('?'), request, response)
    else this.#send(response, methodNotAllowed, !request.complete)
  }

  /** Returns the response to a request that must not be executed, otherwise undefined. */
  #readHead(request: IncomingMessage): Answer | undefined {
    const { rawHeaders, httpVersionMinor, url } = request
    const head = this.#head
    head.reset()
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      head.add(rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!)
    }
    const isHttp10 = httpVersionMinor === 0
    // HTTP/1.0 has no chunked bodies: a proxy that speaks HTTP/1.0 would find another end of the body.
    if (head.isChunked && isHttp10) return unknownTransferCoding
    const isPath = url?.startsWith('/') === true || url === '*'
    return head.refusal(!isHttp10) ?? (isPath ? undefined : unknownTarget)
  }

  #serveHot(
    route: HotRoute,
    query: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const head = this.#head.hotHead(this.#options.readsTraceHeaders, query)
    const caller = {
      get isGone() {
        return response.destroyed
      },
    }
    const collector = this.#collect(request, response, async (body) => {
      try {
        this.#send(response, await route.answer(head, body, caller), false)
      } catch (error) {
        this.#fail(response, error)
      }
    })
    const refusal = route.refuse(head)
    if (refusal !== undefined) collector.refuse(refusal)
  }

  #serveFallback(request: IncomingMessage, response: ServerResponse): void {
    const requestId = idOf(response)
    const aborting = new AbortController()
    response.on('close', () => aborting.abort())
    this.#collect(request, response, async (body) => {
      try {
        const answer = await this.#options.fallback({
          method: request.method ?? 'GET',
          target: request.url ?? '/',
          headers: headerList(request.rawHeaders),
          requestId,
          body,
          remoteAddress: request.socket.remoteAddress ?? '',
          signal: aborting.signal,
        })
        this.#sendFallback(response, answer)
      } catch (error) {
        if (!response.destroyed) this.#fail(response, error)
      }
    })
  }

  #collect(
    request: IncomingMessage,
    response: ServerResponse,
    handle: (body: Buffer) => Promise<void>,
  ): BodyCollector {
    const announcedBytes = Number(request.headers['content-length'])
    const collector = new BodyCollector(this.#options.limits, this.#budget, announcedBytes)
    let isAnswered = false
    request.on('data', (piece: Uint8Array) => {
      collector.add(piece)
      if (!isAnswered && collector.exceedsDiscardLimit && collector.refusal !== undefined) {
        isAnswered = true
        this.#send(response, collector.refusal, true)
      }
    })
    request.on('end', () => {
      if (isAnswered) return
      if (collector.refusal === undefined) void handle(collector.bytes())
      else this.#send(response, collector.refusal, false)
    })
    response.on('close', () => collector.release())
    return collector
  }

  #fail(response: ServerResponse, error: unknown): void {
    this.#send(response, this.#options.answerFailure(error, idOf(response)), false)
  }

  #send(response: ServerResponse, answer: Answer, mustClose: boolean): void {
    if (response.destroyed || response.headersSent) return
    if (answer.status !== 200) this.#options.onRefused(answer.status)
    this.#writeHead(response, answer.status, answer.headers ?? [], mustClose)
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(bodyWithId(answer, idOf(response)))
  }

  #sendFallback(response: ServerResponse, answer: FallbackAnswer): void {
    const { body } = answer
    if (response.destroyed) {
      if (body instanceof Readable) body.destroy()
      return
    }
    this.#writeHead(response, answer.status, answer.headers, false)
    if (answer.reportedLength !== undefined) {
      response.setHeader('content-length', answer.reportedLength)
    }
    if (!(body instanceof Readable)) {
      response.end(body)
      return
    }
    // A partial response must not look complete.
    body.on('error', () => response.destroy())
    response.on('close', () => body.destroy())
    body.pipe(response)
  }

  #writeHead(
    response: ServerResponse,
    status: number,
    headers: FallbackAnswer['headers'],
    mustClose: boolean,
  ): void {
    response.statusCode = status
    for (const [name, value] of headers) response.appendHeader(name, value)
    if (mustClose || this.#isClosing || this.#ended.has(response.req.socket)) {
      response.setHeader('connection', 'close')
    }
  }
}

/** Returns whether this Node has the option `reusePort`. Others ignore it. */
export function canSharePorts(version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 22 ? major > 23 || minor >= 1 : major === 22 && minor >= 12
}

/** The header is set before anything else can fail, and lives as long as the response. */
function idOf(response: ServerResponse): string {
  return String(response.getHeader(requestIdHeader))
}

function headerList(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) list.push([raw[at]!.toLowerCase(), raw[at + 1]!])
  return list
}
