import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Span, TraceHeaders, Tracing } from '@tollgate/platform/observability/tracing'
import { serveMcp, type McpEndpoint } from './mcp/serve-mcp.ts'
import type { ServerDirectory } from './servers/server-directory.ts'
import { sendError } from './http/answers.ts'
import type { ControlPlaneForwarder } from './http/control-plane-forwarder.ts'
import { sendResourceMetadata } from './http/resource-metadata.ts'
import type { Route } from './http/route.ts'

export type ProxyServerParts = {
  readonly endpoint: McpEndpoint
  readonly route: (host: string, url: string) => Route | undefined
  readonly servers: ServerDirectory
  readonly forwarder: ControlPlaneForwarder
  readonly tracing: Tracing | undefined
  readonly logger: Logger
}

/** The public door of the proxy. */
export class ProxyServer {
  readonly #parts: ProxyServerParts
  readonly #server: Server

  constructor(parts: ProxyServerParts) {
    this.#parts = parts
    const { requestTimeoutMs } = parts.endpoint.parts.config
    const options = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }
    this.#server = createServer({ ...options, keepAliveTimeout: 75_000 }, (request, response) => {
      void this.#serve(request, response)
    })
    // Each request that waits behind others of its connection listens for the end of it.
    this.#server.on('connection', (socket) => socket.setMaxListeners(0))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => resolve())
    })
  }

  /** Takes no more requests. Those that are open may finish within `graceMs`; afterwards their connections are closed. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#parts.endpoint.parts.streams.closeAll()
    // Node closes connections that are idle now; those whose last answer ends later would stay until clients give them up.
    const sweeper = setInterval(() => this.#server.closeIdleConnections(), idleSweepMs)
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs)
    await closed
    clearInterval(sweeper)
    clearTimeout(timer)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begunAt = performance.now()
    const { tracing, logger, endpoint } = this.#parts
    const { method = '' } = request
    response.on('error', () => response.destroy())
    closeUnread(response, endpoint.parts.config.unreadMs)
    const headers = traceHeadersOf(request)
    const span = tracing?.receive(`MCP ${method}`, headers, { 'http.request.method': method })
    response.once('close', () => {
      span?.end()
      if (method === 'GET') return
      const seconds = (performance.now() - begunAt) / 1_000
      endpoint.parts.metrics.requestSeconds.observe(
        { method: knownMethods.has(method) ? method : 'other', status: response.statusCode },
        seconds,
      )
    })
    try {
      await within(span, () => this.#dispatch(request, response, traceOf(headers, span)))
    } catch (error) {
      logger.error({ err: error }, 'a request failed')
      if (response.headersSent) response.destroy()
      else sendUnavailable(response)
    }
  }

  async #dispatch(
    request: IncomingMessage,
    response: ServerResponse,
    trace: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { route, servers, forwarder, endpoint } = this.#parts
    const found = route(request.headers.host ?? '', request.url ?? '/')
    const server = found && (await servers.get(found.environment, found.subdomain))
    if (found === undefined || server === undefined) {
      return sendError(response, 404, 'No MCP server has this address.')
    }
    switch (found.target.kind) {
      case 'mcp':
        return serveMcp(endpoint, server, request, response, trace)
      case 'authorization':
        return forwarder.forward(request, response, server, found.target.path)
      case 'resource-metadata':
        return sendResourceMetadata(request, response, server)
      case 'unknown':
        return sendError(response, 404, 'Not Found')
    }
  }
}

/** Milliseconds between two looks for connections that became idle while the server stops. */
const idleSweepMs = 50

const knownMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'OPTIONS'])

/** Closes the connection of a client that reads nothing of what waits for it. Long waits for an origin are no reason. */
function closeUnread(response: ServerResponse, unreadMs: number): void {
  response.setTimeout(unreadMs, () => {
    if ((response.socket?.writableLength ?? 0) > 0) response.destroy()
  })
}

function sendUnavailable(response: ServerResponse): void {
  response.setHeader('retry-after', '2')
  sendError(response, 503, 'The MCP proxy cannot serve this now. Try again later.')
}

function traceHeadersOf({ headers }: IncomingMessage): Partial<TraceHeaders> {
  const { traceparent, tracestate } = headers
  return {
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(typeof tracestate === 'string' && { tracestate }),
    ...(typeof headers['baggage'] === 'string' && { baggage: headers['baggage'] }),
  }
}

/** The origin's part of the trace is below ours where there is one, and below the client's otherwise. */
function traceOf(
  received: Partial<TraceHeaders>,
  span: Span | undefined,
): Readonly<Record<string, string>> {
  return { ...received, ...span?.headers }
}

function within<Result>(span: Span | undefined, work: () => Result): Result {
  return span === undefined ? work() : span.run(work)
}
